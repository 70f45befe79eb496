"""The pipe to Toolcrib, on descriptors of its own: whatever a tool prints cannot get into it."""

import json
import os
import sys


_write = os.write  # a tool may put something else in its place
_read_json = json.JSONDecoder().raw_decode


def read_line(line):
    """What a line from Toolcrib says."""
    return _read_json(line.decode())[0]


class Channel:
    """Lines of JSON in both directions."""

    def __init__(self):
        self.read_from = os.dup(0)
        self._write_to = os.dup(1)
        self._is_fork = False
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(2, 1)  # prints, those of C libraries too, go where the log goes
        os.close(nothing)
        for stream in (sys.stdout, sys.stderr):
            # What is printed is there when the process ends, and text that cannot be encoded breaks no tool.
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._let_go)

    def _let_go(self):
        # A copy of this process must not answer in its place, nor take what is meant for it.
        self._is_fork = True
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, self.read_from, inheritable=False)
        os.dup2(nothing, self._write_to, inheritable=False)
        os.close(nothing)

    def send(self, line):
        """Writes one line, given as bytes without its end."""
        if self._is_fork:
            os._exit(0)  # a tool that forked came back twice
        line += b"\n"
        written = _write(self._write_to, line)
        while written < len(line):
            written += _write(self._write_to, memoryview(line)[written:])

    def say(self, **message):
        """Writes one message that is known to be JSON."""
        self.send(to_bytes(json.dumps(message, ensure_ascii=False)))


def to_bytes(text):
    """UTF-8; half of a surrogate pair, which is no character, becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
