import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { OFFICE } from './office.ts';
import { createWorkshop, MAIN, SURROUNDINGS } from './workshop.ts';

const office = createWorkshop(OFFICE);
afterAll(office.remove);

/** Runs a command on a pseudo-terminal of so many columns; types what is to be typed when the text before it has appeared. */
const TYPIST = `
import fcntl, json, os, pty, select, struct, sys, termios
columns, steps, command = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 40, columns, 0, 0))
    os.execvp(command[0], command)
output, seen = b'', 0
while select.select([terminal], [], [], 30)[0]:
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    output += chunk
    if steps and steps[0][0].encode() in output[seen:]:
        seen = len(output)
        os.write(terminal, steps.pop(0)[1].encode())
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(json.dumps({'code': code, 'output': output.decode('utf-8', 'replace')}))
`;

/** What ends a line of progress. */
const CLEAR_LINE = '\x1b[K';
const COLOUR = new RegExp(`${'\x1b'}\\[\\d+m`);

interface Session {
  readonly columns?: number;
  readonly steps?: readonly (readonly [string, string])[];
  readonly env?: Readonly<Record<string, string>>;
}

function onTerminal(args: readonly string[], { columns = 80, steps = [], env = {} }: Session = {}) {
  const session = JSON.stringify([columns, steps, [process.execPath, MAIN, ...args]]);
  const { stdout, stderr } = spawnSync('python3', ['-c', TYPIST, session], {
    cwd: office.folder,
    env: { ...SURROUNDINGS, HOME: office.folder, TERM: 'xterm-256color', ...env },
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as { readonly code: number; readonly output: string }; // printed by the line above
}

const hasPython = spawnSync('python3', ['-c', 'import pty']).status === 0;

describe.skipIf(!hasPython)('on a terminal (needs python3)', () => {
  it('the user sees tool, arguments and reason and says yes', () => {
    const { code, output } = onTerminal(['call', 'wipe', 'what=x'], { steps: [['Run wipe?', 'y']] });
    expect(code).toBe(0);
    for (const part of ['Remove everything', '"what": "x"', 'it is destructive', 'wiped x'])
      expect(output).toContain(part);
  });

  it('the user says no', () => {
    const { code, output } = onTerminal(['call', 'wipe', 'what=x'], { steps: [['Run wipe?', 'n']] });
    expect(code).toBe(1);
    expect(output).toContain('The approver denied "wipe"');
    expect(output).not.toContain('wiped');
  });

  it('Ctrl-C at the question cancels the call', () => {
    const { code, output } = onTerminal(['call', 'wipe', 'what=x'], { steps: [['Run wipe?', '\x03']] });
    expect(code).toBe(130);
    expect(output).not.toContain('wiped');
  });

  it('the text before the question cannot hide anything', () => {
    const { output } = onTerminal(['call', 'wipe', 'what=\x1b[2Jx\u202ey'], { steps: [['Run wipe?', 'n']] });
    expect(output).toContain('"what": "\\u001b[2Jx\\u{202e}y"');
  });

  it('serve prints the operator link with the token of the file', () => {
    const { code, output } = onTerminal(['serve', '--port', '0'], { steps: [['Or try:', '\x03']] });
    expect(code).toBe(0);
    const [, token = ''] = /\/tools\?token=(\S+)/.exec(output) ?? [];
    const states = join(office.folder, '.local/state/toolcrib');
    const id = readFileSync(join(office.folder, '.toolcrib/id'), 'utf8').trim();
    expect(readFileSync(join(states, id, 'operator-token'), 'utf8').trim()).toBe(token);
    expect(output.split(token)).toHaveLength(2);
  });

  it.each([40, 80])('tables have at most %i columns', (columns) => {
    const { output } = onTerminal(['list'], { columns, env: { NO_COLOR: '1' } });
    const lines = output.split('\r\n').map((line) => line.split(CLEAR_LINE).at(-1) ?? '');
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    expect(lines[0]).toContain('NAME');
  });

  it('colours are shown, unless NO_COLOR is set', () => {
    expect(onTerminal(['list']).output).toMatch(COLOUR);
    expect(onTerminal(['list'], { env: { NO_COLOR: '1' } }).output).not.toMatch(COLOUR);
  });
});
