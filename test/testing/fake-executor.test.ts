import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CribOptions, createCrib, type Executor, failed, toolError } from '../../src/index.ts';
import { fakeExecutor } from '../../src/testing/index.ts';
import { folderWith } from '../crib/workshop.ts';

async function cribOf(options: CribOptions) {
  const crib = await createCrib({ watch: false, ...options });
  onTestFinished(() => crib.close());
  const chest = await crib.open();
  return { crib, chest };
}

const DATE = { name: 'today', description: 'The date', run: { kind: 'shell', command: ['date'] } } as const;
const YAML = 'tools: [{ name: today, description: The date, run: { kind: shell, command: [date] } }]\n';

describe('fakeExecutor', () => {
  it.each([
    ['in code', () => ({ tools: [DATE] })],
    ['of a configuration', () => ({ configFile: folderWith({ 'toolcrib.yaml': YAML }), store: 'memory' })],
  ])('runs tools %s in place of the executor of their kind', async (_name, options) => {
    const seen: unknown[] = [];
    const fake = fakeExecutor('shell', (call, run) => {
      seen.push([call.spec.name, run.kind]);
      return 'Monday';
    });
    const { crib, chest } = await cribOf({ ...options(), executors: [fake] });
    expect(await chest.call('today')).toMatchObject({ ok: true, content: [{ text: 'Monday' }] });
    expect(seen).toEqual([['today', 'shell']]);
    expect((await crib.review()).notes).toContain('The executor of kind "shell" is replaced by a fake.');
  });

  it('replaces functions, and unknown kinds', async () => {
    const { chest } = await cribOf({
      tools: [
        { name: 'own', description: 'd', run: () => 'real' },
        { name: 'new', description: 'd', run: { kind: 'robot' } },
      ],
      executors: [fakeExecutor('function', () => 'fake'), fakeExecutor('robot', () => ({ moved: true }))],
    });
    expect(await chest.call('own')).toMatchObject({ content: [{ text: 'fake' }] });
    expect(await chest.call('new')).toMatchObject({ data: { moved: true } });
  });

  it('passes ready results on, and its exception is the failure of the tool', async () => {
    const { chest } = await cribOf({
      tools: [DATE],
      executors: [fakeExecutor('shell', () => failed(toolError('upstream', 'down')))],
    });
    expect(await chest.call('today')).toMatchObject({ error: { code: 'upstream' } });
    const broken = await cribOf({
      tools: [DATE],
      executors: [
        fakeExecutor('shell', () => {
          throw new Error('broken');
        }),
      ],
    });
    expect(await broken.chest.call('today')).toMatchObject({ error: { code: 'tool_error', message: 'broken' } });
  });

  it('accepts no spec that the executor would refuse', async () => {
    const wrong = { ...DATE, run: { kind: 'shell', command: 'date' } };
    const refused = createCrib({ tools: [wrong], executors: [fakeExecutor('shell', () => 1)] });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_run' });
  });

  it('closes what it replaces', async () => {
    let closed = 0;
    const own: Executor = {
      kind: 'bank',
      runSchema: { type: 'object' },
      execute: () => failed(toolError('internal', 'real')),
      close: async () => void closed++,
    };
    const crib = await createCrib({ executors: [own, fakeExecutor('bank', () => 1)] });
    await crib.close();
    expect(closed).toBe(1);
  });

  it.each([
    ['two fakes of one kind', [fakeExecutor('shell', () => 1), fakeExecutor('shell', () => 2)]],
    ['an executor behind a fake', [fakeExecutor('robot', () => 1), { kind: 'robot', runSchema: {}, execute: () => 1 }]],
  ])('%s are refused', async (_name, executors) => {
    await expect(createCrib({ executors: executors as Executor[] })).rejects.toMatchObject({ code: 'duplicate' });
  });

  it('is the only way to replace an executor of a configuration: another one of its kind is refused', async () => {
    const configFile = folderWith({ 'toolcrib.yaml': YAML });
    const quiet: Executor = { kind: 'shell', runSchema: {}, execute: () => failed(toolError('internal', 'x')) };
    const refused = createCrib({ configFile, store: 'memory', watch: false, executors: [quiet] });
    await expect(refused).rejects.toMatchObject({
      code: 'duplicate',
      message: expect.stringContaining('fakeExecutor'),
    });
  });

  it('is refused in a module of a configuration', async () => {
    const testing = pathToFileURL(new URL('../../src/testing/index.ts', import.meta.url).pathname).href;
    const configFile = folderWith({
      'toolcrib.yaml': 'executors: { robot: { module: ./robot.mjs } }\n',
      'robot.mjs': `import { fakeExecutor } from ${JSON.stringify(testing)};\nexport default fakeExecutor('robot', () => 1);\n`,
    });
    const refused = createCrib({ configFile, store: 'memory', watch: false });
    await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('fake executor') });
  });

  it.each<[unknown, unknown]>([
    ['', () => 1],
    [7, () => 1],
    ['shell', 'x'],
  ])('of %j is an error', (kind, execute) => {
    expect(() => fakeExecutor(kind as string, execute as () => unknown)).toThrow(/fakeExecutor takes/);
  });
});
