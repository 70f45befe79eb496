import { describe, expect, it } from 'vitest';
import { AVAILABLE, COMMANDS } from '../../../src/doors/cli/commands.ts';
import { parseCommandLine } from '../../../src/doors/cli/parse-command-line.ts';
import { loadCommand } from '../../../src/doors/cli/run-cli.ts';
import { createWorkshop } from './workshop.ts';

const CONTRACT = [
  ...['init', 'serve', 'list', 'show', 'explain', 'search', 'call', 'script', 'types', 'check', 'bundles', 'profiles'],
  ...[
    'sources',
    'approvals',
    'calls',
    'audit',
    'pins',
    'keys',
    'specs',
    'eval',
    'connect',
    'completion',
    'worker',
    'doctor',
  ],
];

describe('the grammar of the command line', () => {
  it('knows every command of the contract', () => {
    const names = COMMANDS.map((command) => command.name);
    expect(CONTRACT.filter((name) => !names.includes(name))).toEqual([]);
  });

  it.each(AVAILABLE)('has code for $name', async (command) => {
    expect(await loadCommand(command)).toBeTypeOf('function');
  });

  it.each([
    [['lsit'], 'Unknown command "lsit". Did you mean "list"?'],
    [['list', '--jsn'], 'Unknown flag --jsn. Did you mean "--json"?'],
    [['list', '-x'], 'Unknown flag -x.'],
    [['list', '--yes'], '"toolcrib list" does not take --yes.'],
    [['show'], '"toolcrib show" needs TOOL.'],
    [['show', 'a', 'b'], '"toolcrib show" does not take the extra argument "b".'],
    [['list', '--config'], '--config needs a value: --config FILE.'],
    [['list', '--config', '--json'], '--config needs a value: --config FILE.'],
    [['list', '--json=yes'], '--json does not take a value.'],
    [
      ['list', '--format', 'opnai'],
      '--format must be one of openai, anthropic, gemini, mcp, not "opnai". Did you mean "openai"?',
    ],
    [['list', '--config', 'a', '--config', 'b'], '--config is given twice with different values.'],
    [
      ['approvals', '--state', 'wating'],
      '--state must be one of waiting, approved, denied, expired, withdrawn, claimed, done, all, not "wating". Did you mean "waiting"?',
    ],
    [['constructor'], 'Unknown command "constructor".'],
    [['list', '--toString'], 'Unknown flag --toString.'],
    [[], 'Command missing.'],
    [['pins'], '"toolcrib pins" is not available in this version'],
    [['pins', '--help'], '"toolcrib pins" is not available in this version'],
  ])('%j is answered with a sentence', (args, sentence) => {
    expect(() => parseCommandLine(args)).toThrow(sentence);
  });

  it('takes flags before and after the command, in both spellings, and words after --', () => {
    const { command, words, flags } = parseCommandLine([
      '--config=a.yaml',
      'call',
      '-y',
      'add',
      '--profile',
      'x',
      '--',
      '--a=1',
    ]);
    expect({ name: command.name, words, flags }).toEqual({
      name: 'call',
      words: ['add', '--a=1'],
      flags: { config: 'a.yaml', yes: true, profile: 'x' },
    });
  });

  it('collects a flag that may be repeated', () => {
    expect(parseCommandLine(['list', '--tag', 'a', '--tag=b']).flags.tag).toEqual(['a', 'b']);
  });
});

describe('the process', () => {
  const workshop = createWorkshop();

  it('exits with 2 and prints nothing on stdout for a wrong command line', async () => {
    expect(await workshop.run(['lsit'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: Unknown command "lsit". Did you mean "list"? See "toolcrib help".\n',
    });
  });

  it('explains every command and flag with --help', async () => {
    const { code, stdout, stderr } = await workshop.run(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const { name } of COMMANDS) expect(stdout).toContain(name);
    expect(stdout).not.toContain('\x1b');
  });

  it('prints the version of its package', async () => {
    expect(await workshop.run(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it('prints one line without a stack for a missing configuration', async () => {
    const { code, stdout, stderr } = await workshop.run(['list', '--config', 'absent.yaml']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe('error: absent.yaml does not exist.\n');
  });
});
