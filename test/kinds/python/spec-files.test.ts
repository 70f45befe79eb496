import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cribOf, folderWith, nextChange, write } from '../../crib/workshop.ts';
import { watchPresence } from '../mcp/upstream.ts';
import { hasPython, PYTHON } from './worker-pool.ts';

const SEED = join(import.meta.dirname, 'fixtures/seed-003');
const EXECUTORS = `executors: { python: { interpreter: "${PYTHON}" } }\n`;

describe.skipIf(!hasPython)('Python tools of spec files (needs python3)', () => {
  it('the `tools.yaml` of seed 003 runs unchanged with a real `file_tools.py`', async () => {
    const folder = folderWith({ 'toolcrib.yaml': `sources: { seed: { files: ./seed } }\n${EXECUTORS}` });
    cpSync(SEED, join(folder, 'seed'), { recursive: true });
    write(folder, { 'seed/note.txt': 'hello' });
    const crib = await cribOf(folder);
    const chest = await crib.open();
    const path = join(folder, 'seed/note.txt');
    expect(await chest.call('file_reader', { path })).toMatchObject({ ok: true, content: [{ text: 'hello' }] });
    expect(await chest.call('file_reader', { path: 'note.txt' })).toMatchObject({ ok: true });
    expect(await chest.call('file_reader', { path: 'gone.txt' })).toMatchObject({
      error: { code: 'tool_error', message: expect.stringMatching(/^FileNotFoundError: /) },
    });
  });

  it('modules are found relative to the file that names them: by name, dotted or as a path', async () => {
    const spec = (name: string, module: string) =>
      `tools: [{ name: ${name}, description: A, input: { type: object }, run: { kind: python, module: ${module}, function: say } }]`;
    const say = (word: string) => `def say(): return "${word}"`;
    const folder = folderWith({
      'toolcrib.yaml': `sources: { local: { files: [./a/tools.yaml, ./b/tools.yaml, ./c.yaml, ./d.yaml] } }\n${EXECUTORS}`,
      'a/tools.yaml': spec('one', 'same'),
      'a/same.py': say('from a'),
      'b/tools.yaml': spec('two', 'same'),
      'b/same.py': say('from b'),
      'c.yaml': spec('three', 'pkg.deep.mod'),
      'pkg/deep/mod.py': 'from .word import word\ndef say(): return word',
      'pkg/deep/__init__.py': '',
      'pkg/deep/word.py': 'word = "deep"',
      'd.yaml': spec('four', '"./my tools/file-tools.py"'),
      'my tools/file-tools.py': say('by path'),
    });
    const chest = await (await cribOf(folder)).open();
    const said = async (name: string) => (await chest.call(name, {})) as { readonly content?: unknown };
    expect((await said('one')).content).toEqual([{ type: 'text', text: 'from a' }]);
    expect((await said('two')).content).toEqual([{ type: 'text', text: 'from b' }]);
    expect((await said('three')).content).toEqual([{ type: 'text', text: 'deep' }]);
    expect((await said('four')).content).toEqual([{ type: 'text', text: 'by path' }]);
  });

  it('with needs that their function cannot take are left out, and the others stay', async () => {
    const spec = (name: string) =>
      `{ name: ${name}, needs: [rates], input: { type: object }, run: { kind: python, module: pkg.m, function: ${name} } }`;
    const folder = folderWith({
      'toolcrib.yaml': `sources: { local: { files: ./tools.yaml } }\n${EXECUTORS}`,
      'tools.yaml': `tools: [${spec('deaf')}, ${spec('good')}]`,
      'pkg/m.py': 'def deaf(text="(toolcrib"): return 1\ndef good(toolcrib_call): return toolcrib_call["services"]',
    });
    const crib = await cribOf(folder, { services: { rates: { euro: 2 } } });
    expect(crib.catalog.specs.map(({ name }) => name)).toEqual(['good']);
    expect(crib.warnings().join('\n')).toMatch(/"deaf".*needs "rates".*no parameter toolcrib_call/);
    expect(await (await crib.open()).call('good')).toMatchObject({ ok: true, data: { rates: { euro: 2 } } });
  });

  it('are described by signature and docstring if the spec has no schema', async () => {
    const tools = ['greet', 'gone'].map(
      (name) => `{ name: ${name}, run: { kind: python, module: m, function: ${name} } }`,
    );
    const folder = folderWith({
      'toolcrib.yaml': `sources: { local: { files: ./tools.yaml } }\n${EXECUTORS}`,
      'tools.yaml': `tools: [${tools.join(', ')}]`,
      'm.py':
        'def greet(name: str, times: int = 1):\n  """Greets.\n\n  Args:\n    name: Whom.\n  """\n  return name * times',
    });
    const store = { url: `sqlite:${join(folder, 'crib.db')}` };
    const crib = await cribOf(folder, { store });
    const greet = () => crib.catalog.specs.find(({ name }) => name === 'greet');
    const described = {
      description: 'Greets.',
      input: {
        type: 'object',
        properties: { name: { type: 'string', description: 'Whom.' }, times: { type: 'integer', default: 1 } },
        required: ['name'],
        additionalProperties: false,
      },
    };
    expect(greet()).toMatchObject(described);
    expect(crib.warnings().join()).toContain('m.gone cannot be described: has no "gone"');
    const chest = await crib.open();
    expect(await chest.call('greet', {})).toMatchObject({ error: { code: 'invalid_input' } });
    expect(await chest.call('greet', { name: 'a' })).toMatchObject({ content: [{ text: 'a' }] });
    const change = nextChange(crib);
    write(folder, { 'tools.yaml': `tools: [${tools[0]}, ${tools[0]?.replace('name: greet', 'name: other')}]` });
    await change;
    expect(crib.catalog.specs.find(({ name }) => name === 'other')).toMatchObject(described);
    await crib.close();
    const again = await cribOf(folder, { store });
    expect(again.catalog.specs.find(({ name }) => name === 'greet')).toMatchObject(described);
  });

  it('no worker outlives a killed crib, even during a call', async () => {
    const presence = await watchPresence();
    const folder = folderWith({
      'toolcrib.yaml': `sources: { local: { files: ./tools.yaml } }\nexecutors: { python: { interpreter: "${PYTHON}", env: { PRESENCE: ${presence.path} } } }\n`,
      'tools.yaml':
        'tools: [{ name: hangs, description: A, input: { type: object }, run: { kind: python, module: m, function: hangs } }]',
      'm.py':
        'import os, socket, time, signal\ndef present():\n  one = socket.socket(socket.AF_UNIX)\n  one.connect(os.environ["PRESENCE"])\n  one.send(b"here %d\\n" % os.getpid())\n  return one\ndef hangs():\n  signal.signal(signal.SIGTERM, signal.SIG_IGN)\n  if os.fork() == 0: os.setsid()\n  keep = present()\n  while True: time.sleep(1000)\n',
    });
    const script = join(import.meta.dirname, './processes/keep-python.ts');
    const parent: ChildProcess = spawn(process.execPath, ['--no-warnings', script, folder], { stdio: 'inherit' });
    onTestFinished(() => void parent.kill('SIGKILL'));
    await presence.arrived(2);
    parent.kill('SIGKILL');
    await presence.left();
  });

  it('secrets reach the environment of workers, and no argument of a process', async () => {
    process.env.TOOLCRIB_TEST_KEY = 'a very secret key';
    onTestFinished(() => void delete process.env.TOOLCRIB_TEST_KEY);
    const folder = folderWith({
      'toolcrib.yaml': `sources: { local: { files: ./tools.yaml } }\nsecrets: { key: { env: TOOLCRIB_TEST_KEY } }\nexecutors: { python: { interpreter: "${PYTHON}", env: { KEY: "$\{secret:key}" } } }\n`,
      'tools.yaml':
        'tools: [{ name: look, description: A, input: { type: object }, run: { kind: python, module: m, function: look } }]',
      'm.py':
        'import os\ndef look(): return [len(os.environ["KEY"]), os.environ.get("TOOLCRIB_TEST_KEY"), open("/proc/self/cmdline").read()]',
    });
    const result = await (await (await cribOf(folder)).open()).call('look', {});
    expect(result).toMatchObject({ data: [17, null, expect.stringContaining('worker.py')] });
    expect(JSON.stringify(result)).not.toContain('very secret');
  });

  it('the configuration of Python may change while the crib runs', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `sources: { local: { files: ./tools.yaml } }\n${EXECUTORS}`,
      'tools.yaml':
        'tools: [{ name: look, description: A, input: { type: object }, run: { kind: python, module: m, function: look } }]',
      'm.py': 'import os\ndef look(): return os.environ.get("WORD", "none")',
    });
    const crib = await cribOf(folder, { watch: false });
    const chest = await crib.open();
    expect(await chest.call('look', {})).toMatchObject({ content: [{ text: 'none' }] });
    const text = readFileSync(join(folder, 'toolcrib.yaml'), 'utf8');
    writeFileSync(join(folder, 'toolcrib.yaml'), text.replace('python: {', 'python: { env: { WORD: given },'));
    await crib.reload();
    expect(await chest.call('look', {})).toMatchObject({ content: [{ text: 'given' }] });
  });
});
