import { describe, expect, it } from 'vitest';
import { describeEnd } from '../../../src/kinds/mcp/last-words.ts';

const SERVER = { command: 'npx', env: { HOME: '/home/alice' } };
const ENDED = { kind: 'ended', code: 1, signal: null } as const;
const saying = (said: string) => describeEnd(ENDED, SERVER, said);
const failing = (command: string, reason = 'ENOENT') =>
  describeEnd({ kind: 'failed', reason }, { ...SERVER, command }, '');

describe('the report of an ended program has the line that says why', () => {
  it.each([
    [
      'node',
      `node:internal/modules/cjs/loader:1386
  throw err;
  ^

Error: Cannot find module '/srv/server.js'
    at Function._resolveFilename (node:internal/modules/cjs/loader:1383:15)
    at node:internal/main/run_main_module:33:47 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v24.18.0
`,
      "Error: Cannot find module '/srv/server.js'",
    ],
    [
      'a class of errors with a code',
      `file:///srv/a.js:1
TypeError [ERR_INVALID_URL]: Invalid URL
    at new URL (node:internal/url:816:29)
  [cause]: Error: inner
Node.js v24.18.0`,
      'TypeError [ERR_INVALID_URL]: Invalid URL',
    ],
    [
      'python',
      `Traceback (most recent call last):
  File "/srv/a.py", line 1, in <module>
    import nothing
ModuleNotFoundError: No module named 'nothing'
`,
      "ModuleNotFoundError: No module named 'nothing'",
    ],
    [
      'npm',
      `npm warn exec The following package was not found
npm error code E404
npm error 404 Not Found - GET https://registry.example.com/nothing - Not found
npm error 404
npm error 404  'nothing@*' is not in this registry.
npm error A complete log of this run can be found in: /home/alice/.npm/_logs/x.log
`,
      'npm error E404 404 Not Found - GET https://registry.example.com/nothing - Not found',
    ],
    [
      'uv',
      `  × No solution found when resolving tool dependencies:
  ╰─▶ Because nothing was not found in the package registry, we can conclude that it is missing.
`,
      'No solution found when resolving tool dependencies: Because nothing was not found in the package registry, we can conclude that it is missing.',
    ],
    [
      'go',
      'panic: no database\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/a.go:4\nexit status 2\n',
      'panic: no database',
    ],
  ])('%s', (_who, said, error) => {
    expect(saying(said)).toBe(`"npx" ended with exit code 1; it said: ${error}`);
  });

  it('without such a line, the last meaningful one', () => {
    expect(saying('starting\nsh: 1: nothing: not found\n\n')).toBe(
      '"npx" ended with exit code 1; its last output: sh: 1: nothing: not found',
    );
    expect(saying('no license\n}\n\nNode.js v24.18.0\n')).toContain('its last output: no license');
    expect(saying('')).toBe('"npx" ended with exit code 1');
  });

  it('a flood is cut', () => {
    expect(saying(`Error: ${'x'.repeat(5000)}\n`).length).toBeLessThan(400);
  });
});

describe('a package that npx has installed incompletely', () => {
  const CURE = /incomplete: remove the folder (\S+), then start the server again/;
  it.each([
    [
      "npm error code ENOTEMPTY\nnpm error ENOTEMPTY: directory not empty, rename '/home/alice/.npm/_npx/0f3a9b12cd/node_modules/zod' -> '/x'",
      '/home/alice/.npm/_npx/0f3a9b12cd',
    ],
    [
      "Error: Cannot find module '/home/alice/.npm/_npx/0f3a9b12cd/node_modules/a/dist/index.js'\n    at x\n\nNode.js v24.18.0",
      '/home/alice/.npm/_npx/0f3a9b12cd',
    ],
    [
      "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/npm/_npx/0f3a9b12cd/node_modules/a/index.js",
      '/srv/npm/_npx/0f3a9b12cd',
    ],
  ])('is recognised by %j', (said, folder) => {
    expect(CURE.exec(saying(said))?.[1]).toBe(folder);
  });

  it('is suspected if npx finds no program, in the cache of the server', () => {
    const said = 'npm error could not determine executable to run\n';
    expect(saying(said)).toContain('remove the folder /home/alice/.npm/_npx, then start the server again');
    const elsewhere = { ...SERVER, env: { HOME: '/home/alice', npm_config_cache: '/cache' } };
    expect(describeEnd(ENDED, elsewhere, said)).toContain('remove the folder /cache/_npx,');
    expect(describeEnd(ENDED, { ...SERVER, env: {} }, said)).toContain('the folder _npx of the npm cache');
  });

  it('is not named for a module that is missing elsewhere', () => {
    expect(saying("Error: Cannot find module '/srv/server.js'")).not.toContain('half installed');
  });
});

describe('a missing program is reported with the remedy', () => {
  it.each([
    ['uvx', 'program "uvx" not found; install uv, or write the full path of uvx'],
    ['npxx', 'program "npxx" not found in PATH; install it, or write its full path. Did you mean "npx"?'],
    [
      'npx -y server',
      'program "npx -y server" not found; put only the program into command, and its arguments into args',
    ],
    ['./nothing', 'program "./nothing" not found; correct its path'],
  ])('%s', (command, words) => {
    expect(failing(command)).toBe(words);
  });

  it('and so is one without permission to run', () => {
    expect(failing('/srv/notes.txt', 'EACCES')).toContain('it is not executable');
    expect(failing('x', 'E2BIG')).toBe('"x" cannot be run: E2BIG');
  });
});
