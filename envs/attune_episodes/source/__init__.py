"""Which conversations an environment plays, and in which order."""
