"""Describes functions and tool classes as tools."""

import inspect
import typing

from toolcrib_worker.arguments import hints_of
from toolcrib_worker.docstrings import read_docstring
from toolcrib_worker.hints import default_of, schema_of
from toolcrib_worker.loading import CALL


def describe_function(function):
    """The description of a function and the schema of its arguments."""
    text, said = read_docstring(function)
    hints = hints_of(getattr(function, "__func__", function))
    schema = {"type": "object", "properties": {}}
    required, is_open = [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == CALL or parameter.kind is parameter.VAR_POSITIONAL:
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            is_open = True
            continue
        schema["properties"][parameter.name] = _of_parameter(parameter, hints, said)
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    if required:
        schema["required"] = required
    if not is_open:
        schema["additionalProperties"] = False
    return {"description": text, "input": _with_definitions_on_top(schema)}


def _of_parameter(parameter, hints, said):
    schema = schema_of(hints.get(parameter.name, typing.Any))
    if parameter.name in said:
        schema.setdefault("description", said[parameter.name])
    if parameter.default is not parameter.empty:
        schema.update(default_of(parameter.default))
    return schema


def _with_definitions_on_top(schema):
    """Moves definitions to the top, where the references of Pydantic's schemas point to."""
    definitions = {}

    def hoist(node):
        if isinstance(node, dict):
            definitions.update(node.pop("$defs", {}))
            for member in list(node.values()):
                hoist(member)
        elif isinstance(node, list):
            for member in node:
                hoist(member)

    hoist(schema)
    for definition in list(definitions.values()):
        hoist(definition)
    return {**schema, "$defs": definitions} if definitions else schema


PARTS = ("name", "description", "parameters_schema", "execute")


def is_tool_like(thing):
    """True for a class or an object with the four parts of a tool."""
    return all(_has(thing, part) for part in PARTS)


def _has(thing, part):
    # Checks the class, so that no property is evaluated.
    return hasattr(thing if isinstance(thing, type) else type(thing), part) or part in getattr(thing, "__dict__", {})


def describe_tool(tool):
    """Describes an object with name, description, parameters_schema and execute."""
    described = {
        "name": _value_of(tool.name),
        "description": _value_of(tool.description),
        "input": _value_of(tool.parameters_schema),
        "category": _value_of(getattr(tool, "category", None)),
        "tags": _value_of(getattr(tool, "tags", None)),
        "instructions": _value_of(getattr(tool, "get_ai_prompt_instructions", None)),
    }
    return {key: value for key, value in described.items() if value is not None}


def _value_of(part):
    return part() if callable(part) else part
