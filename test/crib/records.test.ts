// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are secrets written
import { describe, expect, it, onTestFinished } from 'vitest';
import { OFFICE } from '../doors/cli/office.ts';
import { createWorkshop } from '../doors/cli/workshop.ts';
import { cribOf, folderWith, write } from './workshop.ts';

const tools = [
  {
    name: 'fail',
    description: '',
    run: () => {
      throw new Error(`refused: ${process.env.TOOLCRIB_TEST_TOKEN}`);
    },
  },
];
const config = (extensions: string) => ({ 'toolcrib.yaml': `extensions: ${extensions}\n` });
const nameOf = ({ name }: { readonly name: string }) => name;

function office(extensions: string) {
  const workshop = createWorkshop({
    ...OFFICE,
    'toolcrib.yaml': `${OFFICE['toolcrib.yaml']}\nextensions: ${extensions}\n`,
  });
  onTestFinished(workshop.remove);
  return workshop;
}

describe('the configuration of records', () => {
  it('logging: lines of JSON on stderr, only the result on stdout', async () => {
    const workshop = office('{ logging: { level: debug, redact: ["a*"] } }');
    const { stdout, stderr } = await workshop.run(['call', 'add', 'a=1', 'b=2']);
    expect(stdout).toBe('3\n');
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { level: 'debug', event: 'call.start', tool: 'add', arguments: { a: '[redacted]', b: 2 } },
      {
        level: 'info',
        event: 'call.end',
        tool: 'add',
        source: 'office',
        outcome: 'done',
        durationMs: expect.any(Number),
      },
    ]);
  });

  it('logging: no lines below its level', async () => {
    const workshop = office('{ logging: { level: warn } }');
    expect((await workshop.run(['call', 'add', 'a=1', 'b=2'])).stderr).toBe('');
    expect((await workshop.run(['call', 'fail'])).stderr).toContain('"code":"tool_error"');
  });

  it.each([
    ['{ metrics: { prometheus: true, otel: auto } }', true],
    ['{ metrics: {} }', true],
    ['{ }', true],
    ['{ metrics: { prometheus: false } }', false],
    ['{ metrics: false }', false],
  ])('%s', async (extensions, isCounted) => {
    const crib = await cribOf(folderWith(config(extensions)), { tools });
    await (await crib.open()).call('fail');
    const text = await crib.metrics().catch((error: Error) => error.message);
    expect(text.includes('toolcrib_calls_total{tool="fail",source="code",outcome="tool_error"} 1')).toBe(isCounted);
    expect(crib.warnings()).toEqual([]);
  });

  it('metrics: false turns traces off, too; otel: false only these', async () => {
    const off = await cribOf(folderWith(config('{ metrics: false }')));
    expect(off.extensions.list().map(nameOf)).not.toContain('trace');
    expect(off.extensions.list().map(nameOf)).not.toContain('measure');
    expect(off.extensions.list().map(nameOf)).not.toContain('metrics');
    const counting = await cribOf(folderWith(config('{ metrics: { otel: false } }')));
    expect(counting.extensions.list().map(nameOf)).toContain('metrics');
    await expect(counting.metrics()).resolves.toContain('toolcrib_calls_total');
  });

  it('a new secret after a reload is hidden from then on', async () => {
    const folder = folderWith({ 'toolcrib.yaml': 'secrets: {}\n' });
    process.env.TOOLCRIB_TEST_TOKEN = 'hunter2-hunter2';
    onTestFinished(() => void delete process.env.TOOLCRIB_TEST_TOKEN);
    const crib = await cribOf(folder, { tools, watch: false });
    const chest = await crib.open();
    expect(await chest.call('fail')).toMatchObject({ error: { message: 'refused: hunter2-hunter2' } });
    write(folder, { 'toolcrib.yaml': 'secrets: { token: { env: TOOLCRIB_TEST_TOKEN } }\n' });
    await crib.reload();
    expect(await chest.call('fail')).toMatchObject({ error: { message: 'refused: [secret token]' } });
  });

  it('a secret from a file is hidden once it was used', async () => {
    const folder = folderWith({
      'toolcrib.yaml':
        'secrets: { key: { file: ./key, hosts: [specs.invalid] } }\nsources: { far: { http: "https://specs.invalid/", headers: { K: "${secret:key}" } } }\n',
      key: 'from-a-file-1\n',
    });
    process.env.TOOLCRIB_TEST_TOKEN = 'from-a-file-1';
    onTestFinished(() => void delete process.env.TOOLCRIB_TEST_TOKEN);
    const crib = await cribOf(folder, { tools });
    await crib.reload();
    expect(await (await crib.open()).call('fail')).toMatchObject({ error: { message: 'refused: [secret key]' } });
  });

  it('the counts of calls survive an edit of another entry', async () => {
    const folder = folderWith(config('{ metrics: { prometheus: true } }'));
    const crib = await cribOf(folder, { tools, watch: false });
    await (await crib.open()).call('fail');
    write(folder, { 'toolcrib.yaml': 'extensions: { metrics: { prometheus: true } }\nprofiles: { other: {} }\n' });
    await crib.reload();
    expect(await crib.metrics()).toContain('outcome="tool_error"} 1');
  });
});
