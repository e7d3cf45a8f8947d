"""The sample: 20 conversations in the benchmark's layout, and what declares them."""
