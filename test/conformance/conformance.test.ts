import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../scripts/conformance.ts');

/** Minutes: a busy machine is not a failing test. */
const LONG_MS = 300_000;

it(
  'every scenario of the conformance suite passes at both revisions, or fails for a reason that is listed',
  async () => {
    const { stdout, code } = await promisify(execFile)(process.execPath, [SCRIPT]).then(
      ({ stdout }) => ({ stdout, code: 0 }),
      (failure: { readonly stdout: string; readonly code: number }) => failure,
    );
    expect(code, stdout).toBe(0);
    for (const scenario of ['tools-call-with-progress', 'dns-rebinding-protection', 'tools_call'])
      expect(stdout).toMatch(new RegExp(`^${scenario} +pass +pass$`, 'm'));
  },
  LONG_MS,
);
