"""Figures for papers: matplotlib, one style, small pieces that analyses put together."""
