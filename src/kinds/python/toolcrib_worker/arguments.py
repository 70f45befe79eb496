"""Converts JSON to the types of a function's hints: enum members, dataclasses, dates."""

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import os
import pathlib
import types
import typing
import uuid

UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
LISTS = (list, set, frozenset, tuple, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Set)
MAPS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


class BadArgument(Exception):
    """An argument that cannot be converted to the type of its hint."""


def hints_of(function):
    """The type hints of a function; empty if they cannot be evaluated."""
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:
        return {}


def converters_of(function, signature):
    """Converters by name, for parameters that need one."""
    hints = hints_of(getattr(function, "__func__", function))
    found = {name: _converter(hints[name]) for name in signature.parameters if name in hints}
    return {name: convert for name, convert in found.items() if convert is not None}


def convert(arguments, converters):
    """Converts the arguments that have a converter."""
    for name, change in converters.items():
        if name in arguments:
            try:
                arguments[name] = change(arguments[name])
            except Exception as error:
                raise BadArgument(f'"{name}" {_reason(error)}') from error
    return arguments


def _reason(error):
    if isinstance(error, ValueError) and error.args:
        return f"cannot be used: {error.args[0]}"
    return f"cannot be used: {type(error).__name__}: {error}"


def _converter(hint):
    """The converter for a hint; None if plain JSON fits."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _converter(inner[0])
    if origin in UNIONS:
        return _of_union(inner)
    if origin in MAPS and len(inner) == 2:
        return _of_members(_converter(inner[1]))
    if origin in LISTS or hint in (set, frozenset, tuple):
        return _of_items(origin or hint, inner)
    if origin is not None or not isinstance(hint, type):
        return None
    return _of_class(hint)


def _of_class(kind):
    if issubclass(kind, enum.Enum):
        return lambda value: value if isinstance(value, kind) else _member_of(kind, value)
    if dataclasses.is_dataclass(kind):
        return _of_dataclass(kind)
    if callable(getattr(kind, "model_validate", None)):  # Pydantic
        return kind.model_validate
    if kind in (datetime.datetime, datetime.date, datetime.time):
        return _from_text(lambda text: kind.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text))
    if kind in (uuid.UUID, pathlib.Path, pathlib.PurePath, os.PathLike):
        return _from_text(pathlib.Path if kind is os.PathLike else kind)
    if kind is decimal.Decimal:
        return lambda value: decimal.Decimal(str(value))
    return None


def _from_text(make):
    return lambda value: make(value) if isinstance(value, str) else value


def _member_of(kind, value):
    for member in kind:
        if member.value == value:
            return member
    raise ValueError(f"it must be one of {', '.join(str(member.value) for member in kind)}")


def _of_dataclass(kind):
    hints = hints_of(kind)
    names = {field.name for field in dataclasses.fields(kind) if field.init}
    converters = {}  # filled lazily, since a dataclass may contain itself

    def make(value):
        if not isinstance(value, dict):
            return value
        if not converters:
            converters.update({name: _converter(hint) for name, hint in hints.items() if name in names})
        members = {}
        for name, member in value.items():
            if name not in names:
                raise ValueError(f'{kind.__name__} has no field "{name}"')
            change = converters.get(name)
            members[name] = member if change is None else change(member)
        return kind(**members)

    return make


def _of_union(choices):
    converters = [_converter(one) for one in choices if one is not type(None)]
    if all(one is None for one in converters):
        return None
    if len(converters) == 1:
        only = converters[0]
        return lambda value: None if value is None else only(value)

    def change(value):
        if value is None:
            return None
        for kind, one in zip((one for one in choices if one is not type(None)), converters):
            try:
                if one is not None:
                    return one(value)
                if isinstance(kind, type) and isinstance(value, kind):
                    return value
            except Exception:
                continue
        return value

    return change


def _of_members(change):
    if change is None:
        return None
    return lambda value: {key: change(member) for key, member in value.items()} if isinstance(value, dict) else value


def _of_items(kind, inner):
    is_fixed = kind is tuple and inner and inner[-1] is not Ellipsis
    changes = [_converter(one) for one in inner if one is not Ellipsis]
    make = kind if kind in (set, frozenset, tuple) else set if kind is collections.abc.Set else list
    if make is list and not any(changes):
        return None

    def change(value):
        if not isinstance(value, list):
            return value
        if is_fixed:
            return tuple(one if how is None else how(one) for one, how in zip(value, changes))
        how = changes[0] if changes else None
        return make(value if how is None else [how(one) for one in value])

    return change
