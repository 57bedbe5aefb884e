"""`python -m gough_command` is the program `gough`."""

import sys

from gough_command import main

sys.exit(main())
