"""Reads docstrings in the styles of Google, NumPy and reST."""

import inspect
import re

_GOOGLE_PARAMETERS = re.compile(r"^(args|arguments|parameters|params|keyword args|keyword arguments)\s*:\s*$", re.I)
_GOOGLE_SECTION = re.compile(r"^[A-Z][A-Za-z ]*:\s*$")
_GOOGLE_ENTRY = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_NUMPY_RULE = re.compile(r"^-{3,}\s*$")
_NUMPY_PARAMETERS = re.compile(r"^(other )?parameters$", re.I)
_NUMPY_ENTRY = re.compile(r"^\*{0,2}(\w+(?:\s*,\s*\w+)*)\s*(?::.*)?$")
_FIELD = re.compile(r"^:(\w+)(?:\s+([^:]*))?:\s*(.*)$")


def read_docstring(thing):
    """The text before the first section, and the description of each parameter."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    texts, parameters = [], {}
    index = 0
    while index < len(lines):
        line = lines[index]
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if _FIELD.match(line):
            index = _read_fields(lines, index, parameters)
        elif _GOOGLE_PARAMETERS.match(line):
            index = _read_google(lines, index + 1, parameters)
        elif line.strip() and _NUMPY_RULE.match(following):
            index = _read_numpy(lines, index, parameters)
        elif _GOOGLE_SECTION.match(line) and following.startswith((" ", "\t")):
            index = _skip_indented(lines, index + 1)
        else:
            texts.append(line)
            index += 1
    return _joined(texts), {name: text for name, text in parameters.items() if text}


def _joined(lines):
    """Joins lines to text; paragraphs stay separate."""
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip())
    return "\n\n".join(paragraph.strip() for paragraph in paragraphs if paragraph.strip())


def _flat(lines):
    return " ".join(line.strip() for line in lines if line.strip())


def _skip_indented(lines, index):
    while index < len(lines) and (not lines[index].strip() or lines[index][0] in " \t"):
        index += 1
    return index


def _read_google(lines, index, parameters):
    end = _skip_indented(lines, index)
    block = [line for line in lines[index:end] if line.strip()]
    indent = min((len(line) - len(line.lstrip()) for line in block), default=0)
    name, said = None, []
    for line in block:
        entry = _GOOGLE_ENTRY.match(line.strip()) if len(line) - len(line.lstrip()) == indent else None
        if entry is None:
            said.append(line)
            continue
        if name is not None:
            parameters[name] = _flat(said)
        name, said = entry.group(1), [entry.group(2)]
    if name is not None:
        parameters[name] = _flat(said)
    return end


def _read_numpy(lines, index, parameters):
    is_meant = _NUMPY_PARAMETERS.match(lines[index].strip()) is not None
    index += 2
    names, said = [], []

    def finish():
        for name in names:
            parameters[name] = _flat(said)

    while index < len(lines):
        line = lines[index]
        if index + 1 < len(lines) and line.strip() and _NUMPY_RULE.match(lines[index + 1]):
            break  # the next section
        if is_meant and line.strip() and line[0] not in " \t":
            finish()
            entry = _NUMPY_ENTRY.match(line.strip())
            names, said = ([one.strip() for one in entry.group(1).split(",")] if entry else []), []
        else:
            said.append(line)
        index += 1
    if is_meant:
        finish()
    return index


def _read_fields(lines, index, parameters):
    """Reads `:param name: text` with its continuation lines."""
    kind, subject, first = _FIELD.match(lines[index]).groups()
    said = [first]
    index += 1
    while index < len(lines) and lines[index].strip() and not _FIELD.match(lines[index]):
        said.append(lines[index])
        index += 1
    if kind in ("param", "parameter", "arg", "argument", "key", "keyword") and subject:
        parameters[subject.split()[-1].lstrip("*")] = _flat(said)
    return index
