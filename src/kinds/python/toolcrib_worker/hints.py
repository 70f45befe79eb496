"""Converts type hints to JSON Schema."""

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import os
import pathlib
import typing
import uuid

from toolcrib_worker.arguments import LISTS, MAPS, UNIONS, hints_of
from toolcrib_worker.values import NotJson, to_json

_PLAIN = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array", "uniqueItems": True},
    frozenset: {"type": "array", "uniqueItems": True},
    dict: {"type": "object"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string"},
    decimal.Decimal: {"type": ["number", "string"]},
    uuid.UUID: {"type": "string", "format": "uuid"},
    pathlib.Path: {"type": "string"},
    pathlib.PurePath: {"type": "string"},
    os.PathLike: {"type": "string"},
}
MAX_DEPTH = 12
_MARKS = tuple(getattr(typing, name) for name in ("Required", "NotRequired", "ReadOnly") if hasattr(typing, name))


def schema_of(hint, depth=0):
    """The schema of a hint; an open schema if JSON has no such type."""
    if depth > MAX_DEPTH:
        return {}  # a recursive type: deeper levels accept anything
    if hint is None:
        return dict(_PLAIN[type(None)])
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _annotated(inner, depth)
    if origin in _MARKS:
        return schema_of(inner[0], depth)
    if origin is typing.Literal:
        return _of_values(list(inner))
    if origin in UNIONS:
        return _of_union(inner, depth)
    if origin in MAPS:
        return _of_map(inner, depth)
    if origin in LISTS or origin is collections.abc.Collection:
        return _of_list(origin, inner, depth)
    if origin is None and isinstance(hint, type):  # in Python 3.9 type[int] counts as a class
        return _of_class(hint, depth)
    supertype = getattr(hint, "__supertype__", None)  # NewType
    return schema_of(supertype, depth + 1) if supertype is not None else {}


def _annotated(inner, depth):
    schema = schema_of(inner[0], depth)
    for note in inner[1:]:
        text = note if isinstance(note, str) else getattr(note, "description", getattr(note, "documentation", None))
        if isinstance(text, str):
            schema["description"] = text
        elif isinstance(note, dict):
            schema.update(note)
    return schema


def _of_values(values):
    kinds = {bool: "boolean", int: "integer", str: "string", float: "number", type(None): "null"}
    types = sorted({kinds.get(type(value), "") for value in values})
    schema = {"enum": values}
    return {"type": types[0], **schema} if len(types) == 1 and types[0] else schema


def _of_union(choices, depth):
    schemas = [schema_of(one, depth + 1) for one in choices]
    if any(not schema for schema in schemas):
        return {}
    if all(list(schema) == ["type"] and isinstance(schema["type"], str) for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    return {"anyOf": schemas}


def _of_map(inner, depth):
    members = schema_of(inner[1], depth + 1) if len(inner) == 2 else {}
    return {"type": "object", **({"additionalProperties": members} if members else {})}


def _of_list(origin, inner, depth):
    is_set = origin in (set, frozenset, collections.abc.Set)
    unique = {"uniqueItems": True} if is_set else {}
    if origin is tuple and inner and inner[-1] is not Ellipsis:
        items = [schema_of(one, depth + 1) for one in inner]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    items = schema_of(inner[0], depth + 1) if inner else {}
    return {"type": "array", **({"items": items} if items else {}), **unique}


def _of_class(kind, depth):
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if issubclass(kind, enum.Enum):
        return _of_values([member.value for member in kind])
    if dataclasses.is_dataclass(kind):
        return _of_dataclass(kind, depth)
    if typing.is_typeddict(kind) if hasattr(typing, "is_typeddict") else hasattr(kind, "__total__"):
        required = sorted(getattr(kind, "__required_keys__", ()))
        return _of_members(hints_of(kind), required, depth)
    if callable(getattr(kind, "model_json_schema", None)):  # Pydantic
        return kind.model_json_schema()
    for plain in (str, bool, int, float):
        if issubclass(kind, plain):
            return dict(_PLAIN[plain])
    return {}


def _of_dataclass(kind, depth):
    hints = hints_of(kind)
    fields = [field for field in dataclasses.fields(kind) if field.init]
    missing = dataclasses.MISSING
    required = [one.name for one in fields if one.default is missing and one.default_factory is missing]
    schema = _of_members({one.name: hints.get(one.name, typing.Any) for one in fields}, required, depth)
    for field in fields:
        if field.default is not missing:
            schema["properties"][field.name].update(default_of(field.default))
    return schema


def _of_members(hints, required, depth):
    schema = {"type": "object", "properties": {name: schema_of(hint, depth + 1) for name, hint in hints.items()}}
    if required:
        schema["required"] = list(required)
    schema["additionalProperties"] = False
    return schema


def default_of(value):
    """The default as a schema keyword; empty if it is not JSON."""
    try:
        to_json(value)
    except NotJson:
        return {}
    return {} if value is None else {"default": value}
