"""Where conversations come from, and what they may be used for."""
