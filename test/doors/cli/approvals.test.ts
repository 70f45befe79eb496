import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/open-store.ts';
import { addTo, payment } from '../../store/approvals-contract.ts';
import { createWorkshop } from './workshop.ts';

const TOOLS = `
import { appendFileSync } from 'node:fs';
const input = { type: 'object', properties: { what: { type: 'string' } }, required: ['what'], additionalProperties: false };
export const wipe = {
  name: 'wipe', description: 'Remove everything', input, effects: { destructive: true },
  execute: ({ what }) => { appendFileSync('wiped.log', what + '\\n'); return 'wiped ' + what; },
};
export const keep = { name: 'keep', description: 'Keep everything', input, effects: { readOnly: true }, execute: () => 'kept' };
`;
const CONFIG = `
sources: { office: { modules: ./tools } }
profiles: { desk: {} }
`;

const office = createWorkshop({
  'toolcrib.yaml': CONFIG,
  'batches.yaml': 'store: { url: "sqlite:./batches.db" }',
  'tools/office.mjs': TOOLS,
});
afterAll(office.remove);

const wiped = () => {
  const log = join(office.folder, 'wiped.log');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
};
let what = '';
let count = 0;
beforeEach(() => {
  what = `thing-${++count}`; // each test has its own, so that none sees what another one left
});
const ID = /[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}/;

/** Parks a call and tells its id. */
async function park(...more: readonly string[]): Promise<string> {
  const { code, stdout } = await office.run(['call', 'wipe', `what=${what}`, ...more]);
  expect(code).toBe(1);
  return stdout.trim();
}

describe('in two shells', () => {
  it('call of a dangerous tool without a terminal parks and prints its id, approvals approve ID approves it (and runs nothing), call --approval ID claims and runs it once', async () => {
    const parked = await office.run(['call', 'wipe', `what=${what}`]);
    const id = parked.stdout.trim();
    expect(parked.code).toBe(1);
    expect(id).toMatch(new RegExp(`^${ID.source}$`));
    expect(parked.stderr).toMatch(new RegExp(`Waiting for approval ${id} until \\d{4}-`));
    expect(parked.stderr).toContain(`toolcrib approvals approve ${id}`);
    expect(parked.stderr).toContain(`toolcrib call wipe what=${what} --approval ${id}`);

    expect(await office.run(['approvals', 'approve', id])).toMatchObject({ code: 0, stdout: `${id} approved\n` });
    expect(wiped()).not.toContain(what);

    const run = ['call', 'wipe', `what=${what}`, '--approval', id];
    expect(await office.run(run)).toEqual({ code: 0, stdout: `wiped ${what}\n`, stderr: '' });
    const again = await office.run(run);
    expect({ ...again, stderr: '' }).toEqual({ code: 1, stdout: '', stderr: '' });
    expect(again.stderr).toContain('was already used');
    expect(wiped().filter((line) => line === what)).toEqual([what]);
  });

  it('of several processes that use the approval at once, one runs the call', async () => {
    const id = await park();
    await office.run(['approvals', 'approve', id]);
    const runs = [1, 2, 3, 4].map(() => office.run(['call', 'wipe', `what=${what}`, '--approval', id]));
    const codes = (await Promise.all(runs)).map(({ code }) => code);
    expect(codes.toSorted()).toEqual([0, 1, 1, 1]);
    expect(wiped().filter((line) => line === what)).toEqual([what]);
  });

  it('a denied call does not run, and says why', async () => {
    const id = await park();
    const denied = await office.run(['approvals', 'deny', id, '--note', 'not on a Friday']);
    expect(denied).toMatchObject({ code: 0, stdout: `${id} denied\n` });
    const { code, stderr } = await office.run(['call', 'wipe', `what=${what}`]);
    expect(code).toBe(1);
    expect(stderr).toContain('not on a Friday');
    expect(wiped()).not.toContain(what);
    const second = await office.run(['approvals', 'approve', id]);
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/cli\S* denied it/);
  });

  it('--approval for other arguments, another profile or another tool: refused', async () => {
    const id = await park();
    await office.run(['approvals', 'approve', id]);
    for (const args of [
      ['what=else', '--approval', id],
      [`what=${what}`, '--approval', id, '--profile', 'desk'],
    ]) {
      const { code, stdout, stderr } = await office.run(['call', 'wipe', ...args]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain('denied: The approval');
    }
    expect((await office.run(['call', 'keep', `what=${what}`, '--approval', id])).stderr).toContain('another tool');
  });

  it('--remember stops asking for the same call until the answer is forgotten', async () => {
    const id = await park();
    await office.run(['approvals', 'approve', id, '--remember', '12h']);
    const run = () => office.run(['call', 'wipe', `what=${what}`]);
    expect([(await run()).code, (await run()).code]).toEqual([0, 0]);
    expect(await office.run(['approvals', 'forget', id])).toMatchObject({ code: 0, stdout: `${id} forgotten\n` });
    expect((await run()).code).toBe(1);
  });

  it('the suggested command can be pasted into a shell', async () => {
    what = `it's "$(here)" ${what}`;
    const { stderr } = await office.run(['call', 'wipe', '--args', JSON.stringify({ what }), '--profile', 'desk']);
    expect(stderr).toContain(`--profile desk --args '{"what":"it'\\''s \\"$(here)\\" `);
  });
});

describe('toolcrib approvals of a script', () => {
  it('lists a batch with a line for each of its calls, and answers it by its id', async () => {
    const store = await openStore({ url: `sqlite:${join(office.folder, 'batches.db')}`, env: {} });
    const batch = '0199a000-0000-7000-8000-000000000000.1';
    const inner = { batch, inside: ['execute_script'] };
    const { approval: first } = await addTo(store.approvals, payment(inner));
    await addTo(store.approvals, payment({ ...inner, tool: 'mail', arguments: { to: 'b\u202eb' } }));
    const run = (...args: readonly string[]) => office.run([...args, '--config', 'batches.yaml']);
    expect((await run('approvals')).stdout).toBe('');
    await store.approvals.sealBatch(batch);
    const { stdout } = await run('approvals');
    const lines = stdout.trim().split('\n').slice(1);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^0199a000\S+\.1 +execute_script +alice +2 calls inside it require approval .* 2 calls:$/);
    expect(lines[1]).toMatch(new RegExp(`^- ${first.id} +pay +alice .*\\{"amount": 3\\}$`));
    expect(lines[2]).toContain('{"to": "b\\u{202e}b"}');
    const { stdout: json } = await run('approvals', '--json');
    expect(JSON.parse(json).approvals).toMatchObject([{ id: batch, items: [{ tool: 'pay' }, { tool: 'mail' }] }]);
    expect(JSON.parse((await run('approvals', 'show', batch)).stdout).approval.items).toHaveLength(2);
    const answered = await run('approvals', 'approve', batch);
    expect(answered).toMatchObject({ code: 0, stdout: `${batch} approved\n` });
    expect(answered.stderr).toContain('The script goes on');
    expect((await run('approvals', 'deny', batch)).stderr).toMatch(/already answered/);
    await store.close();
  });
});

describe('toolcrib approvals for further calls', () => {
  it('--uses and --vary let as many further calls pass; grants lists them', async () => {
    const id = await park();
    const vary = '{"what":{"pattern":"^thing-"}}';
    const approved = await office.run(['approvals', 'approve', id, '--remember', '12h', '--uses', '1', '--vary', vary]);
    expect(approved).toMatchObject({ code: 0 });
    const { grants } = (await office.json(['approvals', 'grants'])) as { grants: { id: string }[] }; // as documented
    expect(grants.find((grant) => grant.id === id)).toMatchObject({
      tool: 'wipe',
      arguments: { what },
      usesLeft: 1,
      remember: { uses: 1, vary: JSON.parse(vary) },
    });
    expect((await office.run(['approvals', 'grants'])).stdout).toContain(id);
    const call = (more: string) => office.run(['call', 'wipe', `what=${what}${more}`]);
    expect((await call('-2')).code).toBe(0);
    expect((await call('-3')).code).toBe(1);
  });

  it.each([
    [['--uses', '2'], '--uses needs an end'],
    [['--remember', 'arguments', '--uses', '2'], '--uses needs an end'],
    [['--remember', '12h', '--vary', '{}'], '--vary needs --uses'],
    [['--remember', '12h', '--uses', 'many'], '--uses takes a whole number'],
    [['--remember', '12h', '--uses', '2', '--vary', '{'], '--vary takes a JSON object'],
  ])('%j is refused', async (flags, words) => {
    const { code, stderr } = await office.run(['approvals', 'approve', 'x', ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });
});

describe('toolcrib approvals', () => {
  it('lists waiting requests, and with --state those in other states', async () => {
    const id = await park();
    const { code, stdout } = await office.run(['approvals']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ID +TOOL +CALLER +REASON +EXPIRES +STATE +ARGUMENTS\n/);
    expect(stdout).toContain(id);
    expect(stdout).toContain(`{"what": "${what}"}`);
    await office.run(['approvals', 'deny', id]);
    expect((await office.run(['approvals'])).stdout).not.toContain(id);
    expect((await office.run(['approvals', '--state', 'denied'])).stdout).toContain(id);
  });

  it('prints JSON', async () => {
    const id = await park();
    const { approvals } = (await office.json(['approvals'])) as { approvals: { id: string }[] }; // as documented
    expect(approvals.find((approval) => approval.id === id)).toMatchObject({
      tool: 'wipe',
      state: 'waiting',
      arguments: { what },
      caller: { id: 'operator' },
      profile: 'all',
      door: 'cli',
      reason: 'it is destructive',
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/Z$/),
    });
    expect(await office.json(['approvals', 'approve', id, '--note', 'fine'])).toMatchObject({
      approval: {
        id,
        state: 'approved',
        answer: { decision: 'approve', by: expect.stringMatching(/^cli/), note: 'fine' },
      },
    });
  });

  it('cuts long arguments in the list, shows one request in full, and escapes invisible characters', async () => {
    const text = `${what} \u202e\u2066 ${'x'.repeat(400_000)} end`;
    const parked = await office.run(['call', 'wipe', '--args', '-'], { input: JSON.stringify({ what: text }) });
    const id = parked.stdout.trim();
    const listed = await office.run(['approvals', '--json']);
    expect(listed.stdout.length).toBeLessThan(50_000);
    expect(listed.stdout).toContain('"argumentsLength": 4000');
    expect((await office.run(['approvals'])).stdout.length).toBeLessThan(50_000);
    const { code, stdout } = await office.run(['approvals', 'show', id]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ approval: { id, arguments: { what: text } } });
    expect(stdout).not.toMatch(/[\u202e\u2066]/);
    await office.run(['approvals', 'deny', id]);
  });

  it.each([
    [['approvals', 'show'], 2, 'needs an ID'],
    [['approvals', 'show', 'x'], 1, 'The approval "x" was not found. "toolcrib approvals --state all" lists them.'],
    [['approvals', 'approve'], 2, 'needs an ID'],
    [['approvals', 'aprove', 'x'], 2, 'show, approve, deny, grants or forget'],
    [['approvals', 'approve', 'x'], 1, 'The approval "x" was not found'],
    [['approvals', 'approve', 'x', '--remember', 'always'], 2, '--remember takes'],
    [['approvals', 'deny', 'x', '--remember', 'arguments'], 2, '--remember can only be used with approve'],
    [['approvals', '--state', 'wating'], 2, 'Did you mean "waiting"?'],
  ])('%j', async (args, code, message) => {
    const { stderr, ...ran } = await office.run(args);
    expect(ran).toEqual({ code, stdout: '' });
    expect(stderr).toContain(message);
  });
});
