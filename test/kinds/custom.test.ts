// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are secrets written
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { cribOf, folderWith, namesOf } from '../crib/workshop.ts';

/** Answers with what it was made of and called with; its secrets go to one host. */
const ECHO = `
export const echo = (options, context) => ({
  kind: 'echo',
  runSchema: { type: 'object', required: ['say'], properties: { kind: {}, say: { type: 'string' } }, additionalProperties: false },
  check: ({ say }) => (say === 'nothing' ? ['say has to be something'] : []),
  async execute(call, { say }) {
    const text = await context.fillSecrets(say, options.host);
    return { ok: true, status: 'done', content: [{ type: 'text', text }], data: { options, folder: context.folder } };
  },
});`;

const CONFIG = `
secrets: { key: { env: CUSTOM_KEY, hosts: [api.example.com] } }
executors: { echo: { module: ./echo.mjs, options: { host: "\${CUSTOM_HOST:-api.example.com}" } } }
tools:
  - { name: say, description: Says it, run: { kind: echo, say: "hello $\${x} \${secret:key}" } }
`;

async function sayIn(env: Readonly<Record<string, string>>) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = folderWith({ 'toolcrib.yaml': CONFIG, 'echo.mjs': ECHO });
  const crib = await cribOf(folder, { watch: false });
  return { folder, result: await (await crib.open()).call('say', {}) };
}

const cribWith = (executors: string, module = ECHO, more = '') =>
  cribOf(folderWith({ 'toolcrib.yaml': `executors: ${executors}\n${more}`, 'echo.mjs': module }), { watch: false });

describe('an executor that the configuration names by module', () => {
  it('is created with its options, and fills in secrets that it sends to their own hosts', async () => {
    const { folder, result } = await sayIn({ CUSTOM_KEY: 'hunter2-hunter2' });
    expect(result).toMatchObject({
      ok: true,
      content: [{ text: 'hello ${x} hunter2-hunter2' }],
      data: { options: { host: 'api.example.com' }, folder },
    });
  });

  it('gets no secret for another host', async () => {
    const { result } = await sayIn({ CUSTOM_KEY: 'hunter2-hunter2', CUSTOM_HOST: 'evil.example.com' });
    expect(result).toMatchObject({ ok: false, error: { code: 'tool_error' } });
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  it.each([
    ['the schema of its runs', '{ kind: echo, say: 5 }', 'run/say'],
    ['an unknown field', '{ kind: echo, say: x, url: y }', 'url'],
    ['its own check', '{ kind: echo, say: nothing }', 'say has to be something'],
  ])('refuses a run when it is loaded: %s', async (_, run, words) => {
    const crib = await cribWith('{ echo: { module: ./echo.mjs } }', ECHO, `tools: [{ name: bad, run: ${run} }]`);
    expect(namesOf(crib)).toEqual([]);
    expect(crib.warnings().join('\n')).toContain(words);
  });

  it.each([
    ['a module that is not there', '{ echo: { module: ./ehco.mjs } }', ECHO, 'ehco.mjs'],
    ['a package that is not installed', '{ echo: { module: no-such-package } }', ECHO, 'is not an installed package'],
    ['another kind', '{ other: { module: ./echo.mjs } }', ECHO, 'exports neither an executor of kind "other"'],
    ['nothing', '{ echo: { module: ./echo.mjs } }', 'export default undefined;', 'The executor "echo"'],
    ['a text', '{ echo: { module: ./echo.mjs } }', 'export default "echo";', 'neither an executor of kind "echo"'],
    [
      'a maker that throws',
      '{ echo: { module: ./echo.mjs } }',
      'export default () => { throw new Error("no luck"); };',
      'no luck',
    ],
    [
      'no execute',
      '{ echo: { module: ./echo.mjs } }',
      'export default { kind: "echo" };',
      'An executor must have kind',
    ],
    [
      'a built-in kind',
      '{ mcp: { module: ./echo.mjs } }',
      'export default { kind: "mcp", execute() {} };',
      'Two executors have the kind "mcp"',
    ],
    [
      'a secret among its options',
      '{ echo: { module: ./echo.mjs, options: { a: "${secret:key}" } } }\nsecrets: { key: { env: K } }',
      ECHO,
      'may not contain a secret',
    ],
  ])('is an error at start: %s', async (_, executors, module, words) => {
    await expect(cribWith(executors, module)).rejects.toThrow(words);
  });
});

/** Lists a tool of the kind that its options name, or whatever else it is told to. */
const SOURCE = `
export const mine = ({ name, kind = 'function', list }) => ({
  name,
  trust: true,
  async start() {
    const tool = { name: 'of_' + name, description: 'Mine', effects: { readOnly: true }, run: kind === 'function' ? () => name : { kind, say: 'hi' } };
    return { specs: () => list ?? [tool], onChange: () => () => {}, status: () => ({ state: 'ready' }), close: async () => {} };
  },
});`;

const sourceCrib = (entry: string, module = SOURCE, more = '') =>
  cribOf(folderWith({ 'toolcrib.yaml': `sources:\n  box: ${entry}\n${more}`, 'mine.mjs': module, 'echo.mjs': ECHO }), {
    watch: false,
  });

describe('a source that the configuration names by module', () => {
  it('gets its name and its options, and brings tools that run', async () => {
    const crib = await sourceCrib('{ module: ./mine.mjs }');
    expect(await (await crib.open()).call('of_box', {})).toMatchObject({ ok: true, content: [{ text: 'box' }] });
  });

  it('brings tools of custom kinds as data', async () => {
    const executors = 'executors: { echo: { module: ./echo.mjs, options: { host: api.example.com } } }\n';
    const crib = await sourceCrib('{ module: ./mine.mjs, options: { kind: echo } }', SOURCE, executors);
    expect(await (await crib.open()).call('of_box', {})).toMatchObject({ ok: true, content: [{ text: 'hi' }] });
  });

  it('is trusted as the configuration says, not as it says itself', async () => {
    const own = await sourceCrib('{ module: ./mine.mjs }');
    expect(own.get('of_box')?.effects.readOnly).toBeUndefined();
    const trusted = await sourceCrib('{ module: ./mine.mjs, trust: true }');
    expect(trusted.get('of_box')?.effects.readOnly).toBe(true);
  });

  it.each([
    ['a module that is not there', '{ module: ./gone.mjs }', SOURCE, 'gone.mjs'],
    ['no source', '{ module: ./mine.mjs }', 'export default { specs: [] };', 'must export a source'],
    [
      'one that starts as nothing',
      '{ module: ./mine.mjs }',
      'export default { start: async () => ({}) };',
      'has no specs()',
    ],
    ['one that throws', '{ module: ./mine.mjs }', 'export default () => { throw new Error("no luck"); };', 'no luck'],
    [
      'one that never starts',
      '{ module: ./mine.mjs, initTimeoutMs: 20 }',
      'export default { start: () => new Promise(() => {}) };',
      'did not start within 20 ms',
    ],
    ['a list that is none', '{ module: ./mine.mjs, options: { list: 5 } }', SOURCE, ''],
  ])('fails alone, with its reason: %s', async (_, entry, module, words) => {
    const crib = await sourceCrib(entry, module, 'tools: [{ name: good, run: { kind: shell, command: ["true"] } }]\n');
    expect(namesOf(crib)).toEqual(['good']);
    const report = crib.sources().find(({ name }) => name === 'box');
    expect(report?.state).toBe('failed');
    expect(report?.reason).toContain(words);
  });

  it('a key that a custom source does not use is an error', async () => {
    const crib = await sourceCrib('{ module: ./mine.mjs, share: caller }');
    expect(crib.warnings().join('\n')).toMatch(/share/);
    expect(namesOf(crib)).toEqual([]);
  });
});
