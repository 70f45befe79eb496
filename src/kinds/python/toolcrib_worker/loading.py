"""Loads the functions of tools and detects changes of their files."""

import importlib
import importlib.util
import inspect
import os
import sys
import zlib

from toolcrib_worker.arguments import converters_of


class CannotLoad(Exception):
    """A module or function that cannot be loaded, with the reason."""


class Loaded:
    """A loaded function."""

    def __init__(self, function):
        self.function = function
        self.is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
        self.positional = ()
        self.takes_call = False
        self.converters = {}
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return  # some C functions have no signature
        parameters = signature.parameters.values()
        self.positional = tuple(one.name for one in parameters if one.kind is one.POSITIONAL_ONLY)
        self.takes_call = CALL in signature.parameters
        self.converters = converters_of(function, signature)


CALL = "toolcrib_call"
_stat = os.stat  # a tool may replace it


class Loader:
    """The modules of one folder."""

    def __init__(self, folder):
        self._folder = os.path.realpath(folder)
        self._loaded = {}
        self._objects = {}
        self._files = {}
        self._known_modules = 0
        _look_in(self._folder)

    def load(self, module, name):
        """The function `name` of `module`, which is a module name or a file path."""
        key = (module, name)
        found = self._loaded.get(key)
        if found is None:
            found = self._loaded[key] = Loaded(self._find(self.module(module), module, name))
        return found

    def module(self, reference):
        """Imports a module."""
        importlib.invalidate_caches()  # a file may be new
        try:
            return _import_file(reference) if os.path.isabs(reference) else importlib.import_module(reference)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            if is_ending():
                raise
            raise CannotLoad(f"cannot be imported: {describe_error(error, reference)}") from error
        finally:
            self._note_files()

    def has_changed(self):
        """True if a file imported from the folder has changed."""
        if len(sys.modules) != self._known_modules:
            self._note_files()
        try:
            for file, (changed_ns, size) in self._files.items():  # runs before every call, so it must be fast
                stat = _stat(file)
                if stat.st_mtime_ns != changed_ns or stat.st_size != size:
                    return True
        except OSError:
            return True
        return False

    def other_folders(self):
        """The other folders that modules are imported from."""
        return [path for path in sys.path if path != self._folder and os.path.isdir(path)]

    def file_states(self):
        """The files imported from the folder, with their states."""
        return dict(self._files)

    def instance_of(self, kind):
        """The single instance of a class in this worker."""
        if kind not in self._objects:
            self._objects[kind] = kind()
        return self._objects[kind]

    def _find(self, found, module, name):
        for part in name.split("."):
            owner = found
            if inspect.isclass(owner):
                try:
                    owner = self.instance_of(owner)
                except Exception as error:
                    raise CannotLoad(f"cannot create an instance of {owner.__name__}: {describe_error(error)}") from error
            found = getattr(owner, part, None)
            if found is None:
                raise CannotLoad(f'has no "{name}"')
        if not callable(found):
            raise CannotLoad(f'has a "{name}" that is not a function')
        return found

    def _note_files(self):
        self._known_modules = len(sys.modules)
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and file not in self._files and self._is_own(file):
                self._files[file] = _state_of(file)

    def _is_own(self, file):
        # The folder may contain a virtual environment; installed packages are not watched.
        inside = file.startswith(self._folder + os.sep)
        return inside and "site-packages" not in file and not file.startswith(sys.prefix + os.sep)


def _look_in(folder):
    """Adds the folder to the module path after Python's own library, so that its files cannot replace standard modules."""
    names = ("lib-dynload", "python%d%d.zip" % sys.version_info[:2])
    library = os.path.dirname(os.__file__)
    others = sys.path[1:]  # the first entry is our own folder
    python = [path for path in others if path == library or os.path.basename(path) in names]
    sys.path[:] = [*python, folder, *(path for path in others if path not in python)]


def _import_file(path):
    path = os.path.realpath(path)
    stem = os.path.splitext(os.path.basename(path))[0]
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == path:
            return module
    # Use a free name: a file called json.py must not replace the standard module.
    name = stem if stem.isidentifier() and stem not in sys.modules else f"_toolcrib_{zlib.crc32(path.encode())}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _state_of(file):
    try:
        stat = _stat(file)
        return (stat.st_mtime_ns, stat.st_size)
    except OSError:
        return (0, 0)  # already removed


def describe_error(error, module=None):
    """The type and message of an exception, with the line if known; a path is reduced to its file name."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{type(error).__name__}: {error.msg} ({os.path.basename(error.filename)}, line {error.lineno})"
    try:
        message = str(error)
    except Exception:
        message = ""
    line = _line_in(error, module)
    place = "" if line is None else f" (line {line})"
    return (f"{type(error).__name__}: {message}" if message else type(error).__name__)[:4000] + place


def _line_in(error, module):
    if module is None:
        return None
    stem = os.path.splitext(os.path.basename(module))[0] if os.path.isabs(module) else module.rsplit(".", 1)[-1]
    trace, line = error.__traceback__, None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if os.path.splitext(os.path.basename(file))[0] == stem:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


_ending = [False]


def note_ending():
    """Marks the process as ending: exceptions that end it are no longer taken for a tool's."""
    _ending[0] = True


def is_ending():
    return _ending[0]
