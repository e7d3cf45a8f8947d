"""Speed as ratios measured in one run: `make bench`. Not part of the tests: machines are noisy."""
