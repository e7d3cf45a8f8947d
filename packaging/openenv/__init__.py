"""attune-env as an OpenEnv environment."""
