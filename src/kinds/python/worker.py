"""Runs Python functions for Toolcrib; started by it, and of no use alone."""

import sys

if sys.version_info < (3, 9):
    sys.exit("Python 3.9 or newer is needed, and this is %d.%d." % sys.version_info[:2])

from toolcrib_worker.main import main  # noqa: E402: only a Python that is new enough can read it

main()
