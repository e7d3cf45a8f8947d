"""Chat completions over HTTP: one client, and one rule for what came back."""
