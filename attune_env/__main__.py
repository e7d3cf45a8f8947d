"""`python -m attune_env`: the command line."""

from attune_env.cli import main

main()
