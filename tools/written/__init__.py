"""What plans, checks and documents the written corpus; README.md tells how it was made."""
