import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { OFFICE } from './office.ts';
import { createWorkshop, type Workshop } from './workshop.ts';

const made: Workshop[] = [];
const workshop = (files: Readonly<Record<string, string>>) => {
  const created = createWorkshop(files);
  made.push(created);
  return created;
};
afterAll(() => {
  for (const created of made) created.remove();
});

/** The library of which the command line is another copy. */
const LIBRARY = join(import.meta.dirname, '../../../src/index.ts');

/** Something no code expects: a part of the language that throws once the command is under way. */
const BREAK_SEARCH = `const { toFixed } = Number.prototype; Number.prototype.toFixed = function (digits) { if (digits === 3) throw new TypeError('broken'); return toFixed.call(this, digits); };`;

describe('toolcrib check', () => {
  it('exits with 0 if there are no problems', async () => {
    const { code, stdout, stderr } = await workshop(OFFICE).run(['check']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'No problems found.\n' });
    expect(stdout).toMatch(/office +ready +5/);
    expect(stdout).toMatch(/750 +approval +requests approval once per call/);
    expect(stdout).toMatch(/PROFILE +TOOLS +OPENAI +ANTHROPIC +GEMINI +MCP\nreader \(default\) +2 +\d+ +\d+ +\d+ +\d+/);
  });

  it('exits with 1 if a source failed, and shows the others', async () => {
    const config = 'sources:\n  gone: { modules: ./absent }\n  office: { modules: ./tools }\n';
    const { code, stdout } = await workshop({ ...OFFICE, 'toolcrib.yaml': config }).run(['check']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/gone +(failed|down) /);
    expect(stdout).toMatch(/office +ready +5/);
  });

  it('exits with 1 if a selector matches nothing or a name is claimed twice', async () => {
    const config =
      'sources:\n  one: { modules: ./tools }\n  two: { modules: ./tools }\nprofiles:\n  x: { include: ["nothing_*"] }\n';
    const crib = workshop({ ...OFFICE, 'toolcrib.yaml': config });
    const { code, stdout } = await crib.run(['check']);
    expect(code).toBe(1);
    expect(stdout).toContain('"add" comes from both one and two');
    expect(stdout).toContain('Profile "x": include "nothing_*" matches no tool.');
  });

  it('exits with 1 if a schedule cannot run, and with 2 if it is written wrongly', async () => {
    const schedules = `
schedules:
  gone: { tool: ad, cron: "0 3 * * *" }
  stray: { tool: add, profile: readr, cron: "0 3 * * *" }
  past: { tool: add, at: "2020-01-01T00:00:00Z" }
  good: { tool: add, cron: "0 3 * * *" }
`;
    const crib = workshop({ ...OFFICE, 'toolcrib.yaml': `${OFFICE['toolcrib.yaml']}${schedules}` });
    const { ok, problems } = (await crib.json(['check'])) as { ok: boolean; problems: string[] };
    expect(ok).toBe(false);
    expect(problems).toEqual([
      'Schedule "gone": The tool "ad" cannot be called: no source has a tool with this name. Did you mean "add"?',
      'Schedule "stray": The profile "readr" was not found. Did you mean "reader"?',
      'Schedule "past": its time is in the past and it has not run; change at, or remove the schedule.',
    ]);
    const wrong = workshop({ ...OFFICE, 'toolcrib.yaml': 'schedules:\n  x:\n    tool: add\n    cron: "0 0 31 2 *"\n' });
    const refused = await wrong.run(['check']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('toolcrib.yaml:4');
    expect(refused.stderr).toContain('The cron expression "0 0 31 2 *" cannot be used: it never matches');
  });

  it('exits with 1 if tools could reach the operator token and the audit key', async () => {
    const crib = workshop({ ...OFFICE, '.local': 'a file where the folder would be' });
    const { code, stdout } = await crib.run(['check']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/the operator token and the audit key are kept in .*\.toolcrib, .*XDG_STATE_HOME/);
    const { ok, problems } = (await crib.json(['check'])) as { ok: boolean; problems: string[] };
    expect(ok).toBe(false);
    expect(problems.filter((problem) => problem.includes('XDG_STATE_HOME'))).toHaveLength(1);
    await crib.run(['call', 'add', 'a=1', 'b=2']);
    expect(existsSync(join(crib.folder, '.toolcrib/audit/key.pem'))).toBe(true);
  });

  it('exits with 2 and a sentence if the id beside the configuration was changed', async () => {
    const crib = workshop({ ...OFFICE, '.toolcrib/id': '../../../../etc' });
    const { code, stderr } = await crib.run(['check']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('.toolcrib/id must be a file with 32 hexadecimal digits'),
    });
  });

  it('reports once that files of an earlier version beside the configuration were moved', async () => {
    const crib = workshop(OFFICE);
    const token = join(crib.folder, '.toolcrib/operator-token');
    crib.write('.toolcrib/operator-token', 'x');
    chmodSync(token, 0o600);
    expect((await crib.run(['check'])).stdout).toContain('The operator token and the audit key were moved from');
    expect(existsSync(token)).toBe(false);
    expect(await crib.run(['check'])).toMatchObject({ code: 0, stderr: 'No problems found.\n' });
  });

  it('reports how pasted servers were read, as a note', async () => {
    const server = {
      command: process.execPath,
      args: [join(import.meta.dirname, '../../kinds/mcp/servers/editable.ts')],
    };
    const headers = { Authorization: 'Bearer hunter2hunter2' };
    const servers = {
      s: { ...server, startup_timeout_sec: 30, timeout: 60, autoApprove: ['wipe'], env: { TOKEN: 'hunter2hunter2' } },
      off: { url: 'https://example.com', headers, disabled: true },
    };
    const shop = workshop({
      'toolcrib.yaml': 'sources: { all: { mcpFile: ./mcp.json, share: all } }',
      'mcp.json': JSON.stringify({ mcpServers: servers }),
    });
    const { code, stdout, stderr } = await shop.run(['check']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'No problems found.\n' });
    expect(stdout).toContain(
      '  mcpServers.s: startup_timeout_sec: 30 is the start timeout, 30000 ms; timeout: 60 is the call timeout, 60000 ms; autoApprove is ignored: ',
    );
    expect(stdout).toContain('  mcpServers.off is disabled and skipped.\n');
    expect(stdout).not.toContain('hunter2');
    expect((await shop.run(['list'])).stderr).toBe('');
  });

  it('lists guards that are off without counting them as problems', async () => {
    const crib = workshop({
      ...OFFICE,
      'toolcrib.yaml': `${OFFICE['toolcrib.yaml']}extensions: { approval: false }\n`,
    });
    expect(await crib.json(['check'])).toMatchObject({ ok: true, guardsOff: ['approval'] });
  });

  it.each<[string, string, string]>([
    ['of a module', 'access', './pass.js'],
    ['of a module', 'validate', './pass.js'],
    ['of a module', 'rules', './pass.js'],
    ['that is another built-in', 'precheck', './other.js'],
  ])('and the start of serve report that an extension %s replaces "%s"', async (_, name, module) => {
    const crib = workshop({
      ...OFFICE,
      'toolcrib.yaml': `${OFFICE['toolcrib.yaml']}extensions:\n  ${name}: { module: ${module} }\n  mine: { module: ./pass.js }\n  timeout: { timeoutMs: 1000 }\n`,
      'pass.js': 'export const veto = () => undefined;\n',
      'other.js': `export { timeout as default } from ${JSON.stringify(LIBRARY)};\n`,
    });
    const sentence = `The built-in guard "${name}" is replaced by an extension of the same name`;
    expect(await crib.json(['check'])).toMatchObject({ ok: true, notes: [expect.stringContaining(sentence)] });
    const server = crib.start(['serve', '--port', '0']);
    let said = '';
    for await (const chunk of server.stderr) {
      said += String(chunk);
      if (said.includes(sentence)) break;
    }
    server.kill('SIGKILL');
    expect(said.split('is replaced by an extension')).toHaveLength(2);
  });

  it('exits with 2 for an invalid configuration, with file, line, column and the nearest key', async () => {
    const crib = workshop({ 'toolcrib.yaml': 'profils: {}\n' });
    const { code, stdout, stderr } = await crib.run(['check', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, configuration: { ok: false } });
    expect(stderr).toContain('toolcrib.yaml:1:1');
    expect(stderr).toContain('"profiles"');
  });
});

describe('secrets', () => {
  it('are not printed, neither in a result nor in an error', async () => {
    const config = `${OFFICE['toolcrib.yaml']}secrets: { key: { env: CRIB_KEY, hosts: ["example.com"] } }\n`;
    const crib = workshop({ ...OFFICE, 'toolcrib.yaml': config });
    const { stdout, stderr } = await crib.run(['check', '--json'], {
      env: { CRIB_KEY: 'hunter2hunter2', TOOLCRIB_DEBUG: '1' },
    });
    expect(stdout).not.toBe('');
    expect(`${stdout}${stderr}`).not.toContain('hunter2');
  });
});

describe('an unexpected error', () => {
  it('is one line that says how to see more', async () => {
    const crib = workshop(OFFICE);
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BREAK_SEARCH)}` };
    const ran = await crib.run(['search', 'add'], { env });
    expect(ran).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: broken\nThis error is unexpected. Set TOOLCRIB_DEBUG=1 to see the stack trace.\n',
    });
    const debugged = await crib.run(['search', 'add'], { env: { ...env, TOOLCRIB_DEBUG: '1' } });
    expect(debugged.stderr).toMatch(/^error: broken\n.*\n\s+at /m);
  });
});
