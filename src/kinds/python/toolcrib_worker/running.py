"""Runs calls and sends their results."""

import asyncio
import inspect
import socket
import sys
import traceback

from toolcrib_worker.arguments import BadArgument, convert
from toolcrib_worker.channel import to_bytes
from toolcrib_worker.loading import CALL, CannotLoad, describe_error, is_ending
from toolcrib_worker.values import NotJson, is_number_without_json, to_json


ORDINARY = frozenset((str, int, float, bool, dict, list, type(None)))


class TooLarge(Exception):
    """An answer above the size limit."""


class Runner:
    """State shared by the calls of one worker."""

    def __init__(self, channel, loader, max_bytes):
        self.channel = channel
        self.loader = loader
        self.max_bytes = max_bytes

    def prepare(self, request, is_async):
        """The function and its arguments; None after asking Toolcrib to send the call again."""
        call_id = request["id"]
        if self.loader.has_changed():
            return self._again(call_id, stale=True)
        loaded = self.loader.load(request["module"], request["function"])
        if loaded.is_async != is_async:
            return self._again(call_id, isAsync=loaded.is_async)
        arguments = request["args"]
        if loaded.takes_call:
            if "call" not in request:
                return self._again(call_id, takesCall=True)
            arguments[CALL] = request["call"]
        elif "mustTakeCall" in request:
            raise CannotLoad(f'has a "{request["function"]}" without the parameter {CALL}, which it needs to receive its services')
        elif CALL in arguments:
            del arguments[CALL]  # only the crib may set it
        if loaded.converters:
            convert(arguments, loaded.converters)
        positional = [arguments.pop(name) for name in loaded.positional if name in arguments]
        return loaded.function, positional, arguments

    def _again(self, call_id, **why):
        self.channel.say(id=call_id, again=why)

    def answer(self, call_id, key, value):
        """Sends a value under `key`."""
        if type(value) is float and is_number_without_json(value):
            value = {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")
        line = to_bytes(to_json(value))
        if len(line) > self.max_bytes:
            raise TooLarge(len(line))
        self.channel.send(b'{"id":%d,"%s":%b}' % (call_id, key, line))

    def fail(self, call_id, error):
        """Reports why a call failed. The stack trace goes only to the log."""
        kind, message = _kind_of(error, self.max_bytes)
        trace = passing = None
        if kind == "raised":
            passing = _passing_reason(error)
            trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))[-20_000:]
            sys.stderr.write(trace)
        more = {"trace": trace, "passing": passing}
        told = {name: value for name, value in more.items() if value is not None}
        self.channel.say(id=call_id, fail={"kind": kind, "message": message, **told})

    def run(self, request):
        """Runs a call to a function that is not async."""
        call_id = request["id"]
        try:
            prepared = self.prepare(request, False)
            if prepared is None:
                return
            function, positional, named = prepared
            self._finish(call_id, function(*positional, **named))
        except BaseException as error:
            if is_ending():
                raise
            self.fail(call_id, error)

    def _finish(self, call_id, value):
        if type(value) in ORDINARY:  # the checks below take longer than most calls
            return self.answer(call_id, b"ok", value)
        if inspect.isgenerator(value):
            return self._follow(call_id, value)
        if inspect.isawaitable(value) or inspect.isasyncgen(value):
            return asyncio.run(self.finish_async(call_id, value))
        self.answer(call_id, b"ok", value)

    def _follow(self, call_id, steps):
        try:
            while True:
                self.answer(call_id, b"yield", next(steps))
        except StopIteration as end:
            self.answer(call_id, b"end", end.value)
        finally:
            steps.close()

    async def finish_async(self, call_id, value):
        """Awaits the result of an async function."""
        if inspect.isasyncgen(value):
            try:
                async for step in value:
                    self.answer(call_id, b"yield", step)
            finally:
                await value.aclose()
            return self.answer(call_id, b"end", None)
        self._finish_awaited(call_id, await value)

    def _finish_awaited(self, call_id, value):
        if inspect.isgenerator(value):
            return self._follow(call_id, value)
        self.answer(call_id, b"ok", value)


def _passing_reason(error):
    """Why a retry may help: the exception is marked as retryable, or a connection failed."""
    try:
        marked = getattr(error, "retryable", None)
    except Exception:
        marked = None
    if isinstance(marked, bool):
        return "marked" if marked else None
    # Before Python 3.11 the last two were separate classes.
    return "connection" if isinstance(error, (ConnectionError, TimeoutError, asyncio.TimeoutError, socket.timeout)) else None


def _kind_of(error, max_bytes):
    if isinstance(error, CannotLoad):
        return "missing", str(error)
    if isinstance(error, BadArgument):
        return "invalid", str(error)
    if isinstance(error, NotJson):
        return "value", str(error)
    if isinstance(error, TooLarge):
        return "large", f"{error.args[0]} bytes, the limit is {max_bytes}"
    if isinstance(error, asyncio.CancelledError):
        return "cancelled", "it was cancelled"
    return "raised", describe_error(error)
