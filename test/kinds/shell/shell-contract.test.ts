import { equal, match } from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, test, vi } from 'vitest';
import { shellExecutor } from '../../../src/kinds/shell/shell-executor.ts';
import { createSecrets } from '../../../src/system/secrets/secrets.ts';
import { executorContract } from '../../../src/testing/index.ts';
import { MODES, processesOf } from './shell-shop.ts';

const folder = mkdtempSync(join(tmpdir(), 'toolcrib-shell-contract-'));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

const SECRET = 'a-secret-of-the-contract';
const env = { PATH: process.env.PATH, SHELL_CONTRACT: SECRET };
const secrets = createSecrets({ token: { env: 'SHELL_CONTRACT' } }, { env, folder });
const text = { input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } } as const;
const sleep = `${2000 + process.pid}.5`;

/** What is run lies under the spec, and the kind with it. */
const run = (fields: object) => ({ kind: 'shell', ...fields });

describe.each(MODES)('the shell executor %s', (_, sandbox) => {
  const begun = join(folder, 'begun');
  const contract = executorContract({
    create: () =>
      shellExecutor({
        folder,
        env,
        secrets,
        settings: () => ({ sandbox, roots: folder }),
        hidden: () => ({ folders: [], files: [], readOnly: [] }),
      }),
    works: [
      {
        run: run({ command: ['echo', '{text}'] }),
        input: { text: 'a' },
        spec: text,
        expect: ({ content }) => equal(JSON.stringify(content), '[{"type":"text","text":"a\\n"}]'),
      },
      {
        run: run({ command: ['cat'], stdin: '["{text}"]', result: 'json' }),
        input: { text: 'b' },
        spec: text,
        expect: ({ data }) => equal(JSON.stringify(data), '["b"]'),
      },
    ],
    fails: [
      {
        run: run({ command: ['sh', '-c', 'echo no >&2; exit 3'] }),
        expect: (result) => match(JSON.stringify(result), /tool_error.*exit code 3/),
      },
      {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: so is a secret written
        run: run({ command: ['there-is-no-such-program'], env: { TOKEN: '${secret:token}' } }),
        expect: (result) => match(JSON.stringify(result), /unavailable/),
      },
    ],
    hangs: {
      run: run({ command: ['sh', '-c', `touch begun; sleep ${sleep}`] }),
      async begun() {
        await vi.waitUntil(() => existsSync(begun), { timeout: 30_000, interval: 5 });
        rmSync(begun);
      },
      isGone: () => processesOf(sleep).length === 0,
    },
    floods: { run: run({ command: ['yes'] }) },
    badRuns: [
      { what: 'no command', run: run({}) },
      { what: 'a command line', run: run({ command: 'ls -l' }) },
      { what: 'an unknown placeholder', run: run({ command: ['ls', '{nothing}'] }) },
      { what: 'an unknown sandbox', run: run({ command: ['ls'], sandbox: { mode: 'off' } }) },
    ],
    unspeakable: [SECRET, folder, 'there-is-no-such-program'],
  });
  for (const { name, run: check } of contract) test(name, check);
});
