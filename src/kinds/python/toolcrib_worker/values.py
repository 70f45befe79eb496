"""Converts the results of tools to JSON text."""

import dataclasses
import datetime
import decimal
import enum
import json
import math
import os
import re
import uuid
from collections.abc import Mapping, Set

MAX_DEPTH = 200
LARGEST_INT = 2**53 - 1

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_long_number = re.compile(r"\d{16}").search


class NotJson(Exception):
    """A value that is not JSON, with its path and type."""


def to_json(value):
    """The JSON text of a value. Other types are converted if the meaning is clear, otherwise rejected."""
    try:
        text = _encode(value)
        # A number that JavaScript would round needs conversion; digits in a text cost only this check.
        return text if _long_number(text) is None else _encode(_plain(value, "", ()))
    except (TypeError, ValueError, RecursionError):
        return _encode(_plain(value, "", ()))


def is_number_without_json(value):
    """True for NaN and the infinities."""
    return not math.isfinite(value)


def _plain(value, path, above):
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return _plain(value.value, path, above)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return _plain_int(value, path)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        raise NotJson(f"{path or 'the value'} is {value}, which is not JSON")
    if len(above) >= MAX_DEPTH:
        raise NotJson(f"the value is nested deeper than {MAX_DEPTH} levels")
    if any(one is value for one in above):
        raise NotJson(f"{path or 'the value'} contains itself")
    within = (*above, value)
    if isinstance(value, Mapping):
        return {_key(key, path): _plain(member, f"{path}/{_segment(key)}", within) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(member, f"{path}/{index}", within) for index, member in enumerate(value)]
    if isinstance(value, Set):
        return [_plain(member, f"{path}/{index}", within) for index, member in enumerate(_in_order(value))]
    return _plain(_converted(value, path), path, within)


def _plain_int(value, path):
    if -LARGEST_INT <= value <= LARGEST_INT:
        return int(value)
    try:
        return str(int(value))  # digits as text, since a rounded number would be wrong
    except ValueError:
        raise NotJson(f"{path or 'the value'} is a number with too many digits") from None


def _converted(value, path):
    """Converts a value one step towards JSON."""
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (decimal.Decimal, uuid.UUID)):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    # Pydantic models and NumPy values are recognized by their methods, since the packages may not be installed.
    for method, options in (("model_dump", {"mode": "json"}), ("tolist", {})):
        convert = None if isinstance(value, type) else getattr(value, method, None)
        if callable(convert):
            return convert(**options)
    if isinstance(value, (bytes, bytearray, memoryview)):
        what = f"{path or 'the value'} is {type(value).__name__}"
        raise NotJson(f"{what}, which is not JSON: decode it, or return base64 text")
    raise NotJson(f"{path or 'the value'} has the type {_type_name(value)}, which is not JSON")


def _type_name(value):
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _key(key, path):
    if isinstance(key, enum.Enum):
        return _key(key.value, path)
    if isinstance(key, str):
        return str(key)
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, (int, float, decimal.Decimal, uuid.UUID, datetime.date)):
        return str(key)
    raise NotJson(f"{path or 'the value'} has a key of the type {_type_name(key)}, which is not JSON")


def _segment(key):
    return str(key).replace("~", "~0").replace("/", "~1")


def _in_order(members):
    try:
        return sorted(members)
    except TypeError:
        return members
