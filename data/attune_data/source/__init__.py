"""Where conversations come from: corpora, files and mixtures by name, their order, and the training guard."""
