import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCrib, defineTool } from '../../../src/index.ts';
import { createWorkshop } from './workshop.ts';

const office = createWorkshop({ 'toolcrib.yaml': 'profiles: { desk: {} }\n' });
afterAll(office.remove);

describe('a call that code parked in a crib of a configuration', () => {
  it('is approved by the command line, and run once by the crib that has the tool', async () => {
    const wiped: unknown[] = [];
    const wipe = defineTool({
      name: 'wipe',
      description: 'Wipes',
      input: { type: 'object' },
      effects: { destructive: true },
      run: (input) => {
        wiped.push(input);
        return 'wiped';
      },
    });
    const crib = await createCrib({ configFile: office.folder, tools: [wipe], watch: false });
    onTestFinished(() => crib.close());
    const waiting = await (await crib.open('desk', { id: 'ann' })).call('wipe', { what: 'all' }, { park: true });
    if (waiting.status !== 'waiting') throw new Error('it does not wait');
    const { id } = waiting.waiting;
    const listed = await office.run(['approvals', '--json']);
    expect(listed.stdout).toContain(id);
    expect(await office.run(['approvals', 'approve', id])).toMatchObject({ code: 0 });
    const found = await vi.waitFor(
      async () => {
        const call = await crib.calls.get(id);
        expect(call?.result).toBeDefined();
        return call;
      },
      { timeout: 20_000 },
    );
    expect(found).toMatchObject({ outcome: 'done', result: { content: [{ text: 'wiped' }] } });
    expect(wiped).toEqual([{ what: 'all' }]);
  });
});
