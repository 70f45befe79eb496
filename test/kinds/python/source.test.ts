import { chmodSync, existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cribOf, folderWith, namesOf, nextChange, write } from '../../crib/workshop.ts';
import { stateOf } from '../mcp/upstream.ts';
import { hasPython, PYTHON } from './worker-pool.ts';

const SOURCE = 'sources: { py: { python: ./py_tools } }\n';
const CONFIG = `${SOURCE}executors: { python: { interpreter: "${PYTHON}" } }\n`;

const OFFERS = `
import json
from helpers.words import word
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Dict, List, Literal, Optional, TypedDict, Union

class Color(Enum):
    RED = "red"
    BLUE = "blue"

@dataclass
class Point:
    x: int
    y: float = 0.5

class Options(TypedDict, total=False):
    deep: bool

def paint(
    where: Point,
    color: Color = Color.RED,
    names: Optional[List[str]] = None,
    style: Literal["thin", "thick"] = "thin",
    sizes: Dict[str, int] = {},
    note: Annotated[str, "What to write"] = "",
    options: Options = {},
    either: Union[int, str] = 1,
):
    """Paints a point.

    It takes a while.

    Args:
        where: The place
            to paint.
        color (Color): With what.

    Returns:
        The colour.
    """
    return [type(where).__name__, where.x, color.name, word]

def _hidden(): pass

def anything(first, /, *rest, **more):
    """Numpy.

    Parameters
    ----------
    first : str
        The first
        of all.
    """
    return {"first": first, **more}

async def later(text: str, toolcrib_call=None) -> str:
    """Says it later.

    :param text: What to say,
        at length.
    :returns: the same
    """
    return text
`;

const CLASSES = `
from abc import ABC, abstractmethod
class AITool(ABC):
    @property
    @abstractmethod
    def name(self): ...
    @property
    @abstractmethod
    def description(self): ...
    @property
    @abstractmethod
    def parameters_schema(self): ...
    @property
    def category(self): return None
    @property
    def tags(self): return []
    def get_ai_prompt_instructions(self): return "Use it well."
    @abstractmethod
    async def execute(self, **kwargs): ...

class Reader(AITool):
    name = "read_page"
    category = "files"
    tags = ["read"]
    description = "Reads a page"
    parameters_schema = {"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}
    def __init__(self): self.count = 0
    async def execute(self, **kwargs):
        self.count += 1
        return {"page": kwargs["page"], "count": self.count}

class Broken(AITool):
    name = "broken"
    description = "x"
    parameters_schema = {}
    def __init__(self): raise RuntimeError("no licence")
    async def execute(self): pass
`;

describe.skipIf(!hasPython)('a source of Python (needs python3)', () => {
  it('finds modules of Python before a file of the same name beside it, and its own modules before installed ones', async () => {
    const folder = folderWith({
      'toolcrib.yaml': 'sources: { py: { python: ./tools.py, prefix: "" } }',
      'tools.py':
        'import colorsys, wave, pip, helper\ndef where() -> list:\n  return [one.__file__ for one in (colorsys, wave, pip, helper)]',
      'colorsys.py': '',
      'wave/__init__.py': '',
      'pip.py': '',
      'helper.py': '',
    });
    const crib = await cribOf(folder);
    const { data } = (await (await crib.open()).call('where', {})) as { readonly data: readonly string[] }; // as it returns
    expect(data.map((file) => file.startsWith(realpathSync(folder)))).toEqual([false, false, true, true]);
  });

  it('finds public functions of .py files and describes them by signature and docstring', async () => {
    const folder = folderWith({
      'toolcrib.yaml': CONFIG,
      'py_tools/offers.py': OFFERS,
      'py_tools/helpers/words.py': '__all__ = []\nword = "bright"\ndef not_offered(): pass',
      'py_tools/_private.py': 'def private_one(): pass',
      'py_tools/test_offers.py': 'def test_one(): pass',
      'py_tools/setup.py': 'raise SystemExit(1)',
      'py_tools/json.py': 'def in_a_file_of_a_taken_name(): return "mine"',
    });
    const crib = await cribOf(folder);
    expect(namesOf(crib)).toEqual(['in_a_file_of_a_taken_name', 'paint', 'anything', 'later']);
    const spec = (name: string) => crib.catalog.specs.find((one) => one.name === name);
    expect(spec('paint')).toMatchObject({ description: 'Paints a point.\n\nIt takes a while.', source: 'py' });
    expect(spec('paint')?.input).toEqual({
      type: 'object',
      properties: {
        where: {
          type: 'object',
          properties: { x: { type: 'integer' }, y: { type: 'number', default: 0.5 } },
          required: ['x'],
          additionalProperties: false,
          description: 'The place to paint.',
        },
        color: { type: 'string', enum: ['red', 'blue'], default: 'red', description: 'With what.' },
        names: { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] },
        style: { type: 'string', enum: ['thin', 'thick'], default: 'thin' },
        sizes: { type: 'object', additionalProperties: { type: 'integer' }, default: {} },
        note: { type: 'string', description: 'What to write', default: '' },
        options: {
          type: 'object',
          properties: { deep: { type: 'boolean' } },
          additionalProperties: false,
          default: {},
        },
        either: { type: ['integer', 'string'], default: 1 },
      },
      required: ['where'],
      additionalProperties: false,
    });
    expect(spec('anything')?.input).toEqual({
      type: 'object',
      properties: { first: { description: 'The first of all.' } },
      required: ['first'],
    });
    expect(spec('later')?.input).toMatchObject({ properties: { text: { description: 'What to say, at length.' } } });
    expect(Object.keys((spec('later')?.input.properties ?? {}) as object)).toEqual(['text']);

    const chest = await crib.open();
    expect(await chest.call('paint', { where: { x: 2 }, color: 'blue' })).toMatchObject({
      data: ['Point', 2, 'BLUE', 'bright'],
    });
    expect(await chest.call('paint', { where: { x: 'two' } })).toMatchObject({ error: { code: 'invalid_input' } });
    expect(await chest.call('anything', { first: 1, other: 2 })).toMatchObject({ data: { first: 1, other: 2 } });
    expect(await chest.call('later', { text: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
    expect(await chest.call('in_a_file_of_a_taken_name', {})).toMatchObject({ content: [{ text: 'mine' }] });
  });

  it('takes classes with name, description, parameters_schema and execute, and reports those it cannot make', async () => {
    const folder = folderWith({ 'toolcrib.yaml': CONFIG, 'py_tools/tool_classes.py': CLASSES });
    const crib = await cribOf(folder);
    expect(crib.catalog.specs).toMatchObject([
      {
        name: 'read_page',
        category: 'files',
        tags: ['read'],
        instructions: 'Use it well.',
        description: 'Reads a page',
      },
    ]);
    const chest = await crib.open();
    await chest.call('read_page', { page: 1 });
    expect(await chest.call('read_page', { page: 7 })).toMatchObject({ data: { page: 7, count: 2 } });
    expect(stateOf(crib, 'py')).toMatchObject({ reason: expect.stringContaining('no licence') });
  });

  it('finds entry points `toolcrib.tools` of installed distributions', async () => {
    const folder = folderWith({
      'py_tools/own.py': 'def own(): return 1',
    });
    const packages = join(folder, 'installed');
    write(folder, {
      'toolcrib.yaml': `${SOURCE}executors: { python: { interpreter: "${PYTHON}", env: { PYTHONPATH: ${packages} } } }\n`,
    });
    write(packages, {
      'shop/__init__.py': '',
      'shop/tools.py':
        'class Adder:\n  name = "adder"\n  description = "Adds"\n  parameters_schema = {"type": "object"}\n  def execute(self, a, b): return a + b\ndef greet(name: str): return "Hello " + name\n',
      'shop-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: shop\nVersion: 1.0\n',
      'shop-1.0.dist-info/entry_points.txt':
        '[toolcrib.tools]\nadder = shop.tools:Adder\ngreeting = shop.tools:greet\nmissing = shop.tools:Nothing\n',
    });
    const crib = await cribOf(folder);
    expect(namesOf(crib)).toEqual(['own', 'adder', 'greeting']);
    const chest = await crib.open();
    expect(await chest.call('adder', { a: 1, b: 2 })).toMatchObject({ data: 3 });
    expect(await chest.call('greeting', { name: 'Ada' })).toMatchObject({ content: [{ text: 'Hello Ada' }] });
    expect(stateOf(crib, 'py')?.reason).toContain('the entry point "missing" (shop.tools:Nothing) cannot be used');
  });

  it('is watched: added, changed and removed functions are noticed, and a file that breaks keeps its tools', async () => {
    const folder = folderWith({ 'toolcrib.yaml': CONFIG, 'py_tools/a.py': 'def first(): return 1' });
    const crib = await cribOf(folder);
    const chest = await crib.open();
    expect(namesOf(crib)).toEqual(['first']);
    let change = nextChange(crib);
    write(folder, { 'py_tools/a.py': 'def first(word: str): return word\ndef second(): return 2' });
    await change;
    expect(namesOf(crib)).toEqual(['first', 'second']);
    expect(await chest.call('first', { word: 'new' })).toMatchObject({ content: [{ text: 'new' }] });
    change = nextChange(crib);
    write(folder, { 'py_tools/a.py': 'def first(:', 'py_tools/b.py': 'def third(): return 3' });
    await change;
    expect(namesOf(crib)).toEqual(['first', 'second', 'third']);
    expect(stateOf(crib, 'py')).toMatchObject({
      state: 'ready',
      reason: expect.stringMatching(/a\.py: .*SyntaxError/),
    });
    expect(await chest.call('second', {})).toMatchObject({ error: { code: 'unavailable' } });
    change = nextChange(crib);
    write(folder, { 'py_tools/a.py': 'def fourth(): return 4' });
    await change;
    expect(namesOf(crib)).toEqual(['fourth', 'third']);
  });

  it('a file that raises, exits or never ends when it is imported is reported with its path, the rest loaded', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `sources: { py: { python: ./py_tools, initTimeoutMs: 1500 } }\nexecutors: { python: { interpreter: "${PYTHON}" } }\n`,
      'py_tools/a.py': 'def a(): return 1',
      'py_tools/b.py': 'import os\nos._exit(7)',
      'py_tools/c.py': 'raise ValueError("bad file")',
      'py_tools/d.py': 'while True: pass',
      'py_tools/e.py': 'import sys\nsys.exit(1)',
      'py_tools/f.py': 'def a(): return 2\ndef f(): return 3',
    });
    const crib = await cribOf(folder);
    if (!namesOf(crib).includes('f')) await nextChange(crib);
    expect(namesOf(crib)).toEqual(['a', 'f']);
    const told = crib.warnings().join('\n');
    expect(told).toMatch(/b\.py: its import failed: Python ended with exit code 7/);
    expect(told).toMatch(/c\.py: it cannot be imported: ValueError: bad file \(line 1\)/);
    expect(told).toMatch(/d\.py: its import did not finish within 1500 ms/);
    expect(told).toMatch(/e\.py: it cannot be imported: SystemExit: 1/);
    expect(told).toMatch(/"a" in f\.py is left out, because a\.py has a tool of that name/);
  });

  it('starts no Python if nothing has changed since the list was stored', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `${SOURCE}store: { url: "sqlite:./state/crib.db" }\nexecutors: { python: { interpreter: ./python.sh } }\n`,
      'py_tools/a.py': 'from pkg.b import two\ndef a(): return two',
      'py_tools/pkg/b.py': 'two = 2',
      'python.sh': `#!/bin/sh\necho started >> "$(dirname "$0")/log"\nexec ${PYTHON} "$@"\n`,
    });
    chmodSync(join(folder, 'python.sh'), 0o755);
    const starts = () =>
      existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8').split('\n').length - 1 : 0;
    const open = () => cribOf(folder, { store: { url: `sqlite:${join(folder, 'crib.db')}` } });
    const first = await open();
    expect(namesOf(first)).toEqual(['a']);
    await first.close();
    expect(starts()).toBe(1);
    const second = await open();
    expect(namesOf(second)).toEqual(['a']);
    expect(starts()).toBe(1);
    expect(await (await second.open()).call('a', {})).toMatchObject({ data: 2 });
    expect(starts()).toBe(2);
    await second.close();
    write(folder, { 'py_tools/pkg/b.py': 'two = 22' });
    const third = await open();
    expect(starts()).toBe(3);
    await third.close();
  });

  it('that is missing, or whose Python is missing, is listed as failed with its reason', async () => {
    const folder = folderWith({
      'toolcrib.yaml':
        'sources: { gone: { python: ./nowhere }, py: { python: ./py_tools } }\nexecutors: { python: { interpreter: no-such-python } }\n',
      'py_tools/a.py': 'def a(): return 1',
    });
    const crib = await cribOf(folder);
    expect(stateOf(crib, 'gone')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('does not exist'),
    });
    expect(stateOf(crib, 'py')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('program "no-such-python" not found'),
    });
  });

  it('the output of its tools can be followed', async () => {
    const code = 'def shout(word: str):\n    print("before " + word)\n    return word\n';
    const crib = await cribOf(folderWith({ 'toolcrib.yaml': CONFIG, 'py_tools/loud.py': code }));
    const chest = await crib.open();
    await chest.call('shout', { word: 'one' });
    const heard: string[] = [];
    const hasHeard = Promise.withResolvers<void>();
    const stop = crib.server.followOutput('py', (lines) => {
      heard.push(...lines);
      if (heard.includes('before two')) hasHeard.resolve();
    });
    await chest.call('shout', { word: 'two' });
    await hasHeard.promise;
    stop();
    expect(heard).toEqual(['before one', 'before two']);
  });
});
