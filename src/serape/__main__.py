"""`python -m serape`: the command line."""

from serape.cli import main

if __name__ == "__main__":
    main()
