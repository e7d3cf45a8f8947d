"""`python -m attune_env`: the command `attune`."""

from attune_data.starting import main

if __name__ == "__main__":
    main()
