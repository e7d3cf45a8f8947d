"""Experimental: guess what participants stated about themselves, and score the guesses."""
