import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { MODES, said, script, shellTool, shopWith, TEXT } from './shell-shop.ts';

const CAT = shellTool('read', { path: TEXT }, { command: ['cat', '{path}'] });

describe.each(MODES)('files that the operator names for the operator token and the audit key, %s', (_, sandbox) => {
  it('are hidden like other secrets, although they are in a folder that tools may use', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-named-')));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
    const [token, key] = [join(folder, 'token'), join(folder, 'audit.pem')];
    writeFileSync(token, 'correct-horse-battery');
    writeFileSync(key, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
    for (const file of [token, key]) chmodSync(file, 0o600);
    vi.stubEnv('TOOLCRIB_OPERATOR_TOKEN_FILE', token);
    onTestFinished(() => void vi.unstubAllEnvs());
    const rest = { extensions: { audit: { key: { file: key } } }, executors: { shell: { sandbox, roots: [folder] } } };
    const { chest } = await shopWith({
      sandbox,
      tools: [CAT, script('look', `cat ${token} ${key}; echo looked`)],
      rest,
    });
    for (const path of [token, key, `${folder}/./token`])
      expect(said(await chest.call('read', { path })), path).toMatch(/^invalid_input: .*must be in/);
    if (sandbox !== 'required') return;
    expect(said(await chest.call('look'))).toBe('looked\n');
  });
});
