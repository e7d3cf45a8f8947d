"""Figures for papers: matplotlib in one style, one module per kind of figure, each drawn from a table."""
