import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OFFICE } from './office.ts';
import { createWorkshop, MAIN } from './workshop.ts';

const office = createWorkshop(OFFICE);
afterAll(office.remove);
const hasShell = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0;

describe('completion', () => {
  beforeAll(async () => void (await office.run(['list']))); // names are kept by a command that opened the crib

  it.each([
    [['c'], ['check', 'call', 'calls', 'completion', 'config']],
    [['list', '--to'], ['--tokens']],
    [['list', '--format', 'g'], ['gemini']],
    [
      ['--config', 'toolcrib.yaml', 'show', 'w'],
      ['wipe', 'wait'],
    ],
    [['--config=toolcrib.yaml', 'show', 'wi'], ['wipe']],
    [['--config=missing.yaml', 'show', 'wi'], []],
    [['list', '--bundle', 're'], ['reading']],
    [['list', '--source', 'o'], ['office']],
    [['logs', 'o'], ['office']],
    [['logs', 'office', '--f'], ['--follow']],
    [
      ['list', '--tag', ''],
      ['math', 'read'],
    ],
    [['specs', 'remove', 'wi'], ['wipe']],
    [
      ['call', 'add', ''],
      ['a=', 'b='],
    ],
    [['call', 'add', 'a=1', 'b'], ['b=']],
    [
      ['list', '--profile', ''],
      ['reader', 'writer'],
    ],
    [
      ['specs', ''],
      ['add', 'remove', 'export', 'history'],
    ],
    [['completion', 'z'], ['zsh']],
    [['list', '--config', ''], []],
    [['nonsense', ''], []],
  ])('of %j offers %j', async (words, expected) => {
    const { code, stdout, stderr } = await office.run(['__complete', ...words]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n').filter(Boolean).toSorted()).toEqual(expected.toSorted());
  });

  it('offers nothing if the configuration cannot be used', async () => {
    const broken = createWorkshop({ 'toolcrib.yaml': 'nonsense: [' });
    expect(await broken.run(['__complete', 'show', ''])).toEqual({ code: 0, stdout: '', stderr: '' });
    broken.remove();
  });

  it.each(['bash', 'zsh', 'fish'])('%s accepts its script', async (shell) => {
    const { code, stdout } = await office.run(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain('toolcrib __complete');
    if (hasShell(shell))
      expect(spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  it.skipIf(!hasShell('bash'))('bash completes a tool name by its script', async () => {
    const { stdout: script } = await office.run(['completion', 'bash']);
    mkdirSync(join(office.folder, 'bin'), { recursive: true });
    writeFileSync(join(office.folder, 'bin/toolcrib'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, {
      mode: 0o755,
    });
    const code = `${script}\nCOMP_WORDS=(toolcrib call ad)\nCOMP_CWORD=2\n_toolcrib\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = spawnSync('bash', ['-c', code], {
      cwd: office.folder,
      env: {
        ...process.env,
        HOME: office.folder,
        XDG_CACHE_HOME: '',
        PATH: `${join(office.folder, 'bin')}:${process.env.PATH}`,
      },
      encoding: 'utf8',
    });
    expect(stdout).toBe('add\n');
  });

  it('answers an unknown shell with the known ones', async () => {
    const { code, stderr } = await office.run(['completion', 'tcsh']);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('bash, zsh or fish') });
  });
});
