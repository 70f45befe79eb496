"""Finds tools in files and installed distributions."""

import inspect
import os
from importlib import metadata, util

from toolcrib_worker.describing import describe_function, describe_tool, is_tool_like
from toolcrib_worker.loading import CannotLoad, describe_error
from toolcrib_worker.values import NotJson, to_json

GROUP = "toolcrib.tools"


def find(runner, request):
    """Sends one message for each inspected item, so that the crib sees the progress."""
    call_id = request["id"]
    if runner.loader.has_changed():
        return runner.channel.say(id=call_id, again={"stale": True})
    for wanted in request["find"]:
        runner.answer(call_id, b"yield", _look_at(runner.loader, wanted))
    files = list(runner.loader.file_states())
    runner.answer(call_id, b"end", {"files": files, "folders": runner.loader.other_folders()})


def _look_at(loader, wanted):
    if "entryPoints" in wanted:
        return _entry_points(loader)
    try:
        if "function" in wanted:
            return _collect([lambda: _describe_one(loader, wanted)], loader.module(wanted["module"]))
        reference = _reference(wanted["file"], wanted["module"])
        module = loader.module(reference)
        return _collect(_offers(loader, module, reference), module)
    except CannotLoad as error:
        return {"tools": [], "problems": [f"it {error}"], "isUnreadable": True}


def _describe_one(loader, wanted):
    function = loader.load(wanted["module"], wanted["function"]).function
    return describe_function(function)


def _reference(file, name):
    """The module name if it resolves to this file, otherwise the path."""
    try:
        spec = util.find_spec(name) if all(part.isidentifier() for part in name.split(".")) else None
    except Exception:
        spec = None
    origin = None if spec is None else spec.origin
    return name if origin is not None and os.path.realpath(origin) == os.path.realpath(file) else file


def _collect(offers, module=None):
    tools, problems = [], []
    for offer in offers:
        try:
            tool = offer()
            to_json(tool)
            tools.append(tool)
        except CannotLoad as error:
            problems.append(str(error))
        except NotJson as error:
            problems.append(f"the description of a tool is not JSON: {error}")
        except Exception as error:
            problems.append(describe_error(error))
    file = getattr(module, "__file__", None)
    return {"tools": tools, "problems": problems, **({"file": file} if file else {})}


def _offers(loader, module, reference):
    """The public functions and tool classes that a module defines itself."""
    named = getattr(module, "__all__", None)
    for name, thing in list(vars(module).items()):
        if name not in named if named is not None else name.startswith("_"):
            continue
        is_own = getattr(thing, "__module__", None) == module.__name__
        # Names in __all__ are tools wherever they are defined.
        if named is None and not is_own:
            continue
        if inspect.isfunction(thing):
            yield lambda name=name, thing=thing: {
                "name": name,
                **describe_function(thing),
                "module": reference,
                "function": name,
            }
        elif inspect.isclass(thing) and is_tool_like(thing) and not inspect.isabstract(thing):
            yield lambda name=name, thing=thing: _of_class(loader, thing, {"module": reference, "function": name})


def _of_class(loader, kind, place):
    try:
        tool = loader.instance_of(kind)
        return {**describe_tool(tool), "module": place["module"], "function": f"{place['function']}.execute"}
    except Exception as error:
        raise CannotLoad(f"the class {kind.__name__} cannot be used: {describe_error(error)}") from error


def _entry_points(loader):
    found = metadata.entry_points()
    # Python 3.9 returns groups as a mapping.
    entries = found.select(group=GROUP) if hasattr(found, "select") else found.get(GROUP, ())
    return _collect([lambda entry=entry: _of_entry(loader, entry) for entry in _each_once(entries)])


def _each_once(entries):
    seen = {}
    for entry in entries:
        seen.setdefault((entry.name, entry.value), entry)
    return list(seen.values())


def _of_entry(loader, entry):
    module, _, name = entry.value.partition(":")
    module, name = module.strip(), name.split("[")[0].strip()
    try:
        thing = loader.module(module)
        for part in name.split(".") if name else ():
            thing = getattr(thing, part)
        if inspect.isclass(thing) and is_tool_like(thing):
            return _of_class(loader, thing, {"module": module, "function": name})
        if is_tool_like(thing):
            return {**describe_tool(thing), "module": module, "function": f"{name}.execute"}
        if not inspect.isroutine(thing):
            raise TypeError("it is neither a function nor a tool class")
        return {"name": entry.name, **describe_function(thing), "module": module, "function": name}
    except Exception as error:
        what = f'the entry point "{entry.name}" ({entry.value})'
        raise CannotLoad(f"{what} cannot be used: {describe_error(error)}") from error
