"""The written corpus: conversations in which language models played the persons, made for this project."""
