"""The parts of `examples/train_trl_grpo.py`: people, a small model, a warm-up, GRPO, measurements, plots."""
