import { describe, expect, it } from 'vitest';
import { cribOf, folderWith, write } from '../../crib/workshop.ts';
import { createWorkshop } from '../../doors/cli/workshop.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { cribWith, saidOf, serverOf, stateOf, watchPresence } from './upstream.ts';

const yaml = (value: object) => JSON.stringify(value);

describe('a configuration that changes', () => {
  it('calls in flight finish on the old server, which then ends; later ones use the new one', async () => {
    const presence = await watchPresence();
    const config = (mark: string) =>
      yaml({
        sources: {
          s: { mcp: { ...serverOf('rough.ts', ['well'], presence), env: { PRESENCE: presence.path, MARK: mark } } },
        },
      });
    const folder = folderWith({ 'toolcrib.yaml': config('first') });
    const crib = await cribOf(folder, { watch: false });
    const chest = await crib.open();
    const pid = saidOf(await chest.call('s_pid'));
    const late = chest.call('s_late', { ms: 1500 });
    await chest.call('s_work');
    write(folder, { 'toolcrib.yaml': config('second') });
    await crib.reload();
    expect(saidOf(await chest.call('s_pid'))).not.toBe(pid);
    expect(presence.pids()).toHaveLength(2);
    expect(saidOf(await late)).toBe('late');
    write(folder, { 'toolcrib.yaml': yaml({}) });
    await crib.reload();
    await presence.left();
    expect(saidOf(await chest.call('s_work'))).toBe('unknown_tool');
  });

  it('an equal entry keeps its server', async () => {
    const config = (more: object) => yaml({ sources: { s: { mcp: serverOf('rough.ts') }, ...more } });
    const folder = folderWith({ 'toolcrib.yaml': config({}), 'tools.json': '{"tools":[]}' });
    const crib = await cribOf(folder, { watch: false });
    const chest = await crib.open();
    const pid = saidOf(await chest.call('s_pid'));
    write(folder, { 'toolcrib.yaml': config({ other: { files: './tools.json' } }) });
    await crib.reload();
    expect(saidOf(await chest.call('s_pid'))).toBe(pid);
  });
});

describe('a spec that names a tool of a server', () => {
  it('runs there, whichever source brings it', async () => {
    const run = (source: string) => ({ kind: 'mcp', source, tool: 'work' });
    const tools = [
      { name: 'mine', description: '', run: run('s') },
      { name: 'lost', description: '', run: run('nowhere') },
      { name: 'wrong', description: '', run: { kind: 'mcp', source: 's' } },
    ];
    const crib = await cribWith({ s: { mcp: serverOf('rough.ts'), exclude: ['*'] } }, { rest: { tools } });
    const chest = await crib.open();
    expect(saidOf(await chest.call('mine'))).toBe('work done');
    expect(await chest.call('lost')).toMatchObject({
      error: { code: 'unavailable', message: '"lost" runs on the MCP server "nowhere", which is not available.' },
    });
    expect(crib.get('wrong')).toBeUndefined();
    expect(crib.warnings().join('\n')).toMatch(/Tool "wrong" of kind mcp: .*tool/);
  });
});

describe('the command line', () => {
  it('lists stored tools without starting a server; check connects; a call starts one', async () => {
    const folder = temporaryFolder();
    const starts = `${folder}/starts`;
    const shop = createWorkshop({
      'toolcrib.yaml': yaml({ sources: { s: { mcp: serverOf('rough.ts', ['well', starts]) } } }),
    });
    const { readFileSync } = await import('node:fs');
    const count = () => readFileSync(starts, 'utf8').trim().split('\n').length;
    try {
      expect((await shop.run(['list'])).stdout).toContain('s_work');
      expect(count()).toBe(1);
      expect((await shop.run(['list'])).stdout).toContain('s_work');
      expect((await shop.run(['show', 's_work'])).code).toBe(0);
      expect(count()).toBe(1);
      expect((await shop.run(['check'])).stdout).toMatch(/s\s+ready\s+9/);
      expect(count()).toBe(2);
      expect((await shop.run(['call', 's_work'])).stdout).toBe('work done\n');
      expect(count()).toBe(3);
    } finally {
      shop.remove();
    }
  });
});

it('a source whose server is listed under another name is reported', async () => {
  const crib = await cribWith({
    'my.server': { mcp: serverOf('rough.ts') },
    s: { mcp: serverOf('rough.ts'), prefix: 'x' },
  });
  expect(crib.get('my_server_work')).toMatchObject({ origin: 'work', source: 'my.server' });
  expect(crib.get('x_work')).toMatchObject({ source: 's' });
  expect(stateOf(crib, 's')).toMatchObject({ state: 'ready' });
});
