import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { createWorkshop, MAIN, SURROUNDINGS } from './workshop.ts';

const TOOLS = `
export const wipe = { name: 'wipe', description: 'Remove \u202e', effects: { destructive: true }, execute: () => 'wiped' };
`;
const office = createWorkshop({
  'toolcrib.yaml': 'sources: { office: { modules: ./tools } }\n',
  'tools/office.mjs': TOOLS,
});
afterAll(office.remove);

const GIVEN = { note: 'harmless '.repeat(300), 'a\u202eb': '\u2066\u001b[2J', path: '/etc/passwd' };
const HIDDEN = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069]/;

/** Runs the command line on a terminal of 60 columns and answers its question. */
async function onTerminal(args: readonly string[], input: string): Promise<string> {
  const quoted = [process.execPath, MAIN, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const env = { ...SURROUNDINGS, HOME: office.folder, TERM: 'xterm', NO_COLOR: '1' };
  const child = spawn('script', ['-qec', `stty cols 60; ${quoted}`, '/dev/null'], { cwd: office.folder, env });
  child.stdout.on('data', (data) => String(data).includes('Run wipe?') && child.stdin.write(input));
  const said = await text(child.stdout);
  child.stdin.end();
  return said.replaceAll('\r\n', '\n');
}

describe.runIf(process.platform === 'linux')('on a terminal', () => {
  it('the question names every argument, cuts each value by itself, and shows invisible characters', async () => {
    const said = await onTerminal(['call', 'wipe', '--args', JSON.stringify(GIVEN)], 'n');
    expect(said).toContain('\n  "path": "/etc/passwd"\n');
    expect(said).toContain('(2700 characters, 2200 not shown)');
    expect(said).toContain('\n  "a\\u{202e}b": "\\u{2066}\\u001b[2J"\n');
    expect(said).not.toMatch(HIDDEN);
    expect(said).not.toContain('wiped');
  });

  it('the list of waiting requests names every argument, however narrow the terminal', async () => {
    await office.run(['call', 'wipe', '--args', JSON.stringify(GIVEN)]);
    for (const args of [['approvals'], ['approvals', '--json']]) {
      const said = await onTerminal(args, '');
      expect(said).toContain('"path": "/etc/passwd"');
      expect(said).not.toMatch(HIDDEN);
    }
    expect(await office.json(['approvals'])).toMatchObject({ approvals: [{ arguments: GIVEN }] });
  });
});
