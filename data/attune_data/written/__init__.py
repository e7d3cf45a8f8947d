"""The written corpus: conversations written for this project, stored compactly and expanded on loading."""
