"""Figures for papers: matplotlib in one style, as small pieces that analyses combine."""
