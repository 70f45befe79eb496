"""The two modes of a worker: one call at a time, or all calls together on an event loop."""

import asyncio
import json
import os
import signal
import sys
import traceback

from toolcrib_worker.channel import Channel, read_line
from toolcrib_worker.loading import Loader, is_ending, note_ending
from toolcrib_worker.running import Runner


def main():
    """Serves requests until the channel is closed."""
    try:
        _serve()
    except Exception:
        # Threads that a tool left running must not keep an unreachable process alive.
        traceback.print_exc()
        os._exit(70)


def _serve():
    order = json.loads(sys.argv[1])
    sys.argv[1:] = []
    _lead_a_group()
    channel = Channel()
    signal.signal(signal.SIGTERM, _end)
    runner = Runner(channel, Loader(order["folder"]), order["maxBytes"])
    channel.say(ready=list(sys.version_info[:3]))
    if order["isAsync"]:
        asyncio.run(_serve_together(runner))
    else:
        _serve_in_turn(runner)


def _lead_a_group():
    """Makes this process a group leader, so that it can be ended together with its children."""
    try:
        os.setpgid(0, 0)
    except (AttributeError, OSError):
        pass  # not supported, or already a leader


def _end(_signal, _frame):
    # The tool gets a chance to clean up; if it does not exit, it is killed.
    note_ending()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second signal would interrupt the cleanup
    sys.exit(143)


def _serve_in_turn(runner):
    with os.fdopen(runner.channel.read_from, "rb", buffering=1 << 16) as lines:
        for line in iter(lines.readline, b""):
            request = read_line(line)
            if "module" in request:
                runner.run(request)
            else:
                # Imported lazily: describing needs more modules, and few workers do it.
                from toolcrib_worker.finding import find

                find(runner, request)


async def _serve_together(runner):
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    tasks = {}
    rest = b""

    def take():
        nonlocal rest
        chunk = os.read(runner.channel.read_from, 1 << 16)
        if not chunk and not ended.done():
            ended.set_result(None)
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            _take_one(runner, tasks, read_line(line))

    loop.add_reader(runner.channel.read_from, take)
    await ended


def _take_one(runner, tasks, request):
    if "cancel" in request:
        task = tasks.get(request["cancel"])
        if task is not None:
            task.cancel()
        return
    call_id = request["id"]

    def finished(task):
        del tasks[call_id]
        if task.cancelled():  # before it started, so that no answer was sent
            runner.fail(call_id, asyncio.CancelledError())

    tasks[call_id] = asyncio.ensure_future(_run(runner, request))
    tasks[call_id].add_done_callback(finished)


async def _run(runner, request):
    try:
        prepared = runner.prepare(request, True)
        if prepared is None:
            return
        function, positional, named = prepared
        await runner.finish_async(request["id"], function(*positional, **named))
    except BaseException as error:
        if is_ending():
            raise
        runner.fail(request["id"], error)
