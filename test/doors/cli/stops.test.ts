import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OFFICE } from './office.ts';
import { createWorkshop } from './workshop.ts';

const shop = createWorkshop(OFFICE);
afterAll(shop.remove);
beforeAll(async () => {
  await shop.run(['list']); // what is listed is known from then on
});

const lines = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await shop.run(args);
  return { code, stdout: stdout.trim(), stderr: stderr.trim() };
};

describe('toolcrib stop and resume', () => {
  it('refuse a call, show where it is looked for, and let it run again', async () => {
    expect(await lines('stop', 'tool:add', '--note', 'it adds wrongly')).toEqual({
      code: 0,
      stdout: 'tool:add stopped',
      stderr: expect.stringMatching(
        /^Every process that uses the store .*crib\.db refuses these calls within a second\.$/,
      ),
    });
    expect(await lines('stop', 'tool:add')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^tool:add is already stopped, by cli\S* since 2/),
    });
    expect(await lines('call', 'add', 'a=1', 'b=2')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /unavailable: "add" was not run: stopped by the operator \(tool:add, since .*: it adds wrongly\)/,
      ),
    });
    expect((await lines('explain', 'add')).stdout).toContain('calls are refused, stopped by the operator (tool:add,');
    for (const command of ['list', 'sources'])
      expect((await lines(command)).stderr).toContain('Stopped by the operator: tool:add, since ');
    expect((await lines('stop')).stdout).toMatch(/^TARGET +SINCE +BY +NOTE\ntool:add +2.* +cli\S* +it adds wrongly$/);
    expect(await lines('resume', 'tool:add', '--note', 'repaired')).toMatchObject({
      code: 0,
      stdout: 'tool:add resumed',
    });
    expect(await lines('call', 'add', 'a=1', 'b=2')).toMatchObject({ code: 0, stdout: '3' });
    expect(await lines('stop')).toEqual({ code: 0, stdout: '', stderr: 'Nothing is stopped.' });
  });

  it.each([
    [
      ['stop', 'tool:ad'],
      1,
      /the tool "ad" was not listed when .* Did you mean "add"\? To stop it anyway, add --force\./,
    ],
    [['stop', 'source:nowhere'], 1, /the source "nowhere" was not listed/],
    [['stop', 'profile:nowhere'], 1, /the profile "nowhere" was not found/],
    [['stop', 'add'], 2, /"add" cannot be stopped: use tool:NAME, .* See "toolcrib help stop"/],
    [['stop', 'tool:add', 'all'], 2, /all/],
    [['stop', 'all', '--note', 'x'.repeat(201)], 1, /"note" must be a text of at most 200 characters/],
    [['stop', 'all', '--note', 'a\u001b[31mb'], 1, /without control characters/],
    [['stop', '--cancel'], 2, /--cancel needs a target/],
    [['resume'], 2, /TARGET/],
    [['resume', 'all'], 1, /all is not stopped, so it cannot be resumed\. No stop is in force\./],
  ])('%j ends with %i and says why', async (args, code, message) => {
    const ran = await lines(...args);
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
  });

  it('stop a name that is not listed with --force', async () => {
    expect(await lines('stop', 'tool:of_another_server', '--force')).toMatchObject({ code: 0 });
    expect(await lines('resume', 'tool:of_another_server')).toMatchObject({ code: 0 });
  });

  it('refuse a store in memory, where a stop would reach no process', async () => {
    const memory = createWorkshop({ 'toolcrib.yaml': 'store: { url: "sqlite::memory:" }\ntools: []\n' });
    const ran = await memory.run(['stop', 'all']);
    memory.remove();
    expect(ran).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('is in memory, and every process has its own'),
    });
  });

  it('are completed', async () => {
    const found = (await lines('__complete', 'stop', 't')).stdout.split('\n');
    expect(found).toContain('tool:add');
  });
});
