"""Runs Python functions for Toolcrib, which starts it; not for use on its own."""

import sys

if sys.version_info < (3, 9):
    sys.exit("Python 3.9 or newer is required; this is %d.%d." % sys.version_info[:2])

from toolcrib_worker.main import main  # noqa: E402: older versions cannot parse it

main()
