import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serverEnvironment } from '../../../src/kinds/mcp/server-environment.ts';
import { childEnvironment } from '../../../src/system/processes/child-environment.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { cribWith, realServer, saidOf, serverOf, stateOf } from './upstream.ts';

const PROXY = 'http://ann:pass%20word-1@proxy.test:8080';
const NETWORK = {
  NODE_EXTRA_CA_CERTS: '/ca.pem',
  SSL_CERT_FILE: '/ca.pem',
  SSL_CERT_DIR: '/certs',
  NO_PROXY: '.local',
};
const FOR_SERVERS = {
  HTTP_PROXY: 'http://proxy.test:8080',
  https_proxy: 'http://proxy.test:8080',
  npm_config_registry: 'https://registry.test/',
  NPM_CONFIG_CACHE: '/cache',
  UV_INDEX_URL: 'https://pypi.test/simple',
  PIP_INDEX_URL: 'https://pypi.test/simple',
  uv_offline: '1',
};
const WITHHELD = {
  npm_config__auth: 'abc',
  'npm_config_//registry.test/:_authToken': 'abc',
  UV_INDEX_X_PASSWORD: 'abc',
  PIP_TOKEN: 'abc',
  npm_config_key: 'abc',
  npm_config_call: 'env',
  npm_config_package: 'toolcrib',
};
const given = (env: Readonly<Record<string, string>>, command = 'node', passEnv: readonly string[] = []) =>
  serverEnvironment(env, { command, passEnv, configured: {} });

describe('the environment of children', () => {
  it('every child gets certificates and proxy exceptions, and nothing for package runners', () => {
    expect(childEnvironment({ ...NETWORK, ...FOR_SERVERS, ...WITHHELD })).toEqual(NETWORK);
  });

  it('configured servers also get what package runners need, without credentials', () => {
    const { env, credentials } = given(
      { ...NETWORK, ...FOR_SERVERS, ...WITHHELD, GITHUB_TOKEN: 'x', OTHER: 'x' },
      'npx',
    );
    expect(env).toEqual({ ...NETWORK, ...FOR_SERVERS });
    expect(credentials).toEqual([]);
  });

  it.each([
    { HTTPS_PROXY: PROXY },
    { http_proxy: 'ann:password@proxy.test:8080' },
    { HTTP_PROXY: 'http://ann:pass/word@proxy.test' },
    { npm_config_registry: 'https://ghp_0123456789@registry.test/' },
    { UV_INDEX: 'mine=https://ann:password@pypi.test/simple' },
    { PIP_EXTRA_INDEX_URL: 'https://pypi.test/simple https://ann:password@pypi.test/simple' },
    { PIP_INDEX_URL: 'https://pypi.test/simple?api_key=0123456789' },
  ])('an address with a credential is passed only to package runners, and is a secret: %o', (env) => {
    const [value] = Object.values(env);
    for (const command of ['npx', 'npm', 'uvx', 'uv', 'pipx', '/usr/bin/npx', 'C:\\node\\npx.cmd']) {
      const { env: passed, credentials } = given(env as Record<string, string>, command);
      expect(passed).toEqual(env);
      expect(credentials.map((one) => one.value)).toContain(value);
    }
    for (const command of ['node', 'sh', 'docker', 'python', 'npx-like', '/opt/npx/run']) {
      const { env: passed, credentials, notGiven } = given(env as Record<string, string>, command);
      expect({ passed, credentials }).toEqual({ passed: {}, credentials: [] });
      expect(notGiven).toContain(Object.keys(env)[0]);
      expect(notGiven).not.toContain(value);
    }
  });

  it('the password of such an address is a secret itself, as written and as sent', () => {
    const hidden = given({ HTTPS_PROXY: PROXY }, 'npx').credentials.map(({ value }) => value);
    expect(hidden).toEqual(expect.arrayContaining([PROXY, 'pass%20word-1', 'pass word-1', 'ann:pass word-1']));
    expect(given({ HTTPS_PROXY: 'http://ann:p@ss-word@proxy' }, 'npx').credentials).toContainEqual({
      name: expect.any(String),
      value: 'p@ss-word',
    });
  });

  it('passEnv passes on what it names, and configured values take precedence', () => {
    const env = { GITHUB_TOKEN: 'a-token', HTTPS_PROXY: PROXY, DISPLAY: ':0', OTHER: 'x', CODE: '() { evil; }' };
    const { env: passed, credentials } = given(env, 'node', [
      'GITHUB_TOKEN',
      'HTTPS_PROXY',
      'DISPLAY',
      'CODE',
      'ABSENT',
    ]);
    expect(passed).toEqual({ GITHUB_TOKEN: 'a-token', HTTPS_PROXY: PROXY, DISPLAY: ':0' });
    const hidden = credentials.map(({ value }) => value);
    expect(hidden).toEqual(expect.arrayContaining(['a-token', PROXY]));
    expect(hidden).not.toContain(':0');
    const over = serverEnvironment({ ...FOR_SERVERS }, { command: 'npx', configured: { HTTP_PROXY: 'http://other' } });
    expect(over.env).toEqual({ ...FOR_SERVERS, HTTP_PROXY: 'http://other' });
  });
});

describe('a server of the configuration', () => {
  it('gets them, and an address with a credential only with passEnv', async () => {
    Object.assign(process.env, { ...NETWORK, ...FOR_SERVERS, HTTPS_PROXY: PROXY, MY_TOKEN: 'a-very-secret-value' });
    delete process.env.NODE_EXTRA_CA_CERTS; // Node itself would look for it
    const mcp = realServer('server-everything');
    const crib = await cribWith({ a: { mcp }, b: { mcp, passEnv: ['HTTPS_PROXY', 'MY_TOKEN'] } });
    const chest = await crib.open();
    const env = JSON.parse(saidOf(await chest.call('a_get-env'))) as Record<string, string>; // what it prints
    expect(env).toMatchObject({ ...FOR_SERVERS, NO_PROXY: '.local', SSL_CERT_DIR: '/certs' });
    expect(env).not.toHaveProperty('HTTPS_PROXY');
    expect(env).not.toHaveProperty('MY_TOKEN');
    const more = JSON.parse(saidOf(await chest.call('b_get-env'))) as Record<string, string>; // likewise
    expect(more).toMatchObject({ HTTPS_PROXY: PROXY, MY_TOKEN: 'a-very-secret-value' });
    expect(crib.warnings().join('\n')).toContain('Source "b" carries a credential');
  });

  it('that is a package runner never shows the credential of its proxy', async () => {
    process.env.HTTPS_PROXY = PROXY;
    const folder = temporaryFolder();
    const npx = join(folder, 'npx');
    copyFileSync('/bin/sh', npx);
    chmodSync(npx, 0o755);
    const script = join(folder, 'run.sh');
    writeFileSync(script, 'echo "via $HTTPS_PROXY" >&2; echo "with pass%20word-1" >&2; exit 1\n');
    const crib = await cribWith({ s: { mcp: { command: npx, args: [script] } } });
    expect(crib.sourceOutput('s')).toContain('via [secret HTTPS_PROXY');
    const shown = JSON.stringify([crib.sources(), crib.warnings(), crib.sourceOutput('s')]);
    expect(shown).not.toContain('pass%20word-1');
  });

  it.each([
    'npm error code SELF_SIGNED_CERT_IN_CHAIN',
    'getaddrinfo ENOTFOUND registry.npmjs.org',
    'error: invalid peer certificate: UnknownIssuer',
    'ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed',
  ])('that fails with "%s" names what it was not given', async (line) => {
    Object.assign(process.env, { HTTPS_PROXY: PROXY, npm_config__auth: 'a-very-secret-value' });
    const mcp = { command: 'sh', args: ['-c', 'echo "$1" >&2; echo done >&2; exit 1', 'sh', line] };
    const crib = await cribWith({ s: { mcp } });
    const reason = stateOf(crib, 's')?.reason ?? '';
    expect(reason).toMatch(
      /these variables were not passed to it: [^:;]*HTTPS_PROXY[^:;]*npm_config__auth[^:;]*; add the ones that it needs to passEnv/,
    );
    expect(reason).not.toContain('proxy.test');
    expect(reason).not.toContain('a-very-secret-value');
  });

  it('that does not answer and complains about the network says so, too', async () => {
    process.env.HTTPS_PROXY = PROXY;
    const mcp = { command: 'sh', args: ['-c', 'echo "getaddrinfo EAI_AGAIN registry" >&2; exec sleep 60'] };
    const crib = await cribWith({ s: { mcp, initTimeoutMs: 1500 } });
    expect(stateOf(crib, 's')?.reason).toMatch(
      /did not answer within 1500 ms; these variables were not passed to it: .*HTTPS_PROXY/,
    );
  });

  it('that fails for another reason does not mention the network', async () => {
    process.env.HTTPS_PROXY = PROXY;
    const crib = await cribWith({ s: { mcp: { command: 'sh', args: ['-c', 'echo broken >&2; exit 1'] } } });
    expect(stateOf(crib, 's')?.reason).toContain('broken');
    expect(stateOf(crib, 's')?.reason).not.toContain('not given');
  });

  it('that has an address has no environment, and check says so', async () => {
    const crib = await cribWith({
      s: { mcp: { url: 'http://127.0.0.1:9/mcp' }, passEnv: 'X' },
      t: { mcp: serverOf('rough.ts') },
    });
    expect(crib.warnings().join('\n')).toContain('passEnv has no effect');
  });
});
