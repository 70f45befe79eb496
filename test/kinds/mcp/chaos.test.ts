import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../../src/index.ts';
import { startSessions } from './http-servers.ts';
import { cribWith, saidOf, serverOf, watchPresence } from './upstream.ts';

function kill(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch {
    // Another kill was quicker.
  }
}

describe('200 concurrent calls while servers are killed', () => {
  it('every call gets exactly one answer, no process is left', async () => {
    const presence = await watchPresence();
    const server = (name: string) => [name, { mcp: serverOf('rough.ts', [], presence) }] as const;
    const http = await startSessions();
    const sources = { ...Object.fromEntries(['a', 'b', 'c'].map(server)), h: { mcp: { url: http.url } } };
    const crib = await cribWith(sources);
    const chest = await crib.open();
    let answers = 0;
    const call = async (index: number): Promise<ToolResult> => {
      const [source = 'a', tool = 'work'] = [['a', 'b', 'c', 'h'][index % 4], index % 3 === 0 ? 'work' : 'late'];
      const name = source === 'h' ? 'h_work' : `${source}_${tool}`;
      const result = await chest.call(name, { ms: index % 20 });
      answers++;
      // Each answer to one of the first kills a server.
      if (index % 20 === 0) kill(presence.pids()[0]);
      return result;
    };
    const results = await Promise.all(Array.from({ length: 200 }, (_, index) => call(index)));
    expect(answers).toBe(200);
    const said = new Set(results.map(saidOf));
    for (const word of said) expect(['work done', 'late', 'unknown_outcome', 'unavailable']).toContain(word);
    expect(said).toContain('work done');
    for (const source of ['a', 'b', 'c'])
      expect(saidOf(await chest.call(`${source}_work`, {}, { retries: 8 }))).toBe('work done');
    await crib.close();
    await presence.left();
  });

  it('a configuration that changes meanwhile cuts off no call', async () => {
    const presence = await watchPresence();
    const crib = await cribWith({ a: { mcp: serverOf('rough.ts', [], presence) } });
    const chest = await crib.open();
    const late = chest.call('a_late', { ms: 300 });
    await chest.call('a_work');
    await Promise.all([crib.reload(), late]);
    expect(saidOf(await late)).toBe('late');
  });
});
