"""Conversations as other people load them: Parquet files with a dataset card, and the Hugging Face Hub."""
