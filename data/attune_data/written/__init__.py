"""The written corpus: conversations written for this project, kept in a compact form, expanded on loading."""
