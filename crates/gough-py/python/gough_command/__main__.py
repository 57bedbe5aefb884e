"""`python -m gough_command` is the program `gough`."""

import sys

from gough_command import main

if __name__ == "__main__":
    sys.exit(main())
