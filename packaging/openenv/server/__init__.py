"""The server of the OpenEnv folder."""
