"""The pipe to Toolcrib, on separate descriptors, so that a tool's output cannot get into it."""

import json
import os
import sys


_write = os.write  # a tool may replace it
_read_json = json.JSONDecoder().raw_decode


def read_line(line):
    """Parses a line from Toolcrib."""
    return _read_json(line.decode())[0]


class Channel:
    """Lines of JSON in both directions."""

    def __init__(self):
        self.read_from = os.dup(0)
        self._write_to = os.dup(1)
        self._is_fork = False
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(2, 1)  # output, also of C libraries, goes to the log
        os.close(nothing)
        for stream in (sys.stdout, sys.stderr):
            # No output is lost when the process ends, and text that cannot be encoded does not break a tool.
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._let_go)

    def _let_go(self):
        # A fork must neither answer for this process nor read its requests.
        self._is_fork = True
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, self.read_from, inheritable=False)
        os.dup2(nothing, self._write_to, inheritable=False)
        os.close(nothing)

    def send(self, line):
        """Writes one line, given as bytes without the newline."""
        if self._is_fork:
            os._exit(0)  # a tool forked and returned twice
        line += b"\n"
        written = _write(self._write_to, line)
        while written < len(line):
            written += _write(self._write_to, memoryview(line)[written:])

    def say(self, **message):
        """Writes one message that is known to be JSON."""
        self.send(to_bytes(json.dumps(message, ensure_ascii=False)))


def to_bytes(text):
    """Encodes as UTF-8; a lone surrogate becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
