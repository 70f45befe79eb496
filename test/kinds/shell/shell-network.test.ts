import { beforeEach, describe, expect, it } from 'vitest';
import { MODES, SANDBOX, said, script, shopWith } from './shell-shop.ts';

const LOOK = script(
  'look',
  'for name in SSL_CERT_FILE SSL_CERT_DIR NO_PROXY HTTP_PROXY https_proxy npm_config_registry UV_INDEX PIP_INDEX_URL; do eval "echo $name=\\$$name"; done',
);
const NOT_FOR_COMMANDS = 'HTTP_PROXY=\nhttps_proxy=\nnpm_config_registry=\nUV_INDEX=\nPIP_INDEX_URL=\n';
const set = (certificates: string) =>
  Object.assign(process.env, {
    SSL_CERT_FILE: `${certificates}/ca.pem`,
    SSL_CERT_DIR: certificates,
    NO_PROXY: '.local',
    HTTP_PROXY: 'http://proxy.test',
    https_proxy: 'http://proxy.test',
    npm_config_registry: 'https://registry.test',
    UV_INDEX: 'https://pypi.test',
    PIP_INDEX_URL: 'https://pypi.test',
  });

describe('a command gets, of the variables about the network,', () => {
  it.each(MODES)('certificates and proxy exceptions, %s', async (_, sandbox) => {
    set('/etc/ssl');
    const { chest } = await shopWith({ tools: [LOOK], sandbox });
    const seen = 'SSL_CERT_FILE=/etc/ssl/ca.pem\nSSL_CERT_DIR=/etc/ssl\nNO_PROXY=.local\n';
    expect(said(await chest.call('look', {}))).toBe(`${seen}${NOT_FOR_COMMANDS}`);
  });

  it.runIf(SANDBOX.ok)('no certificates that it cannot see in its sandbox', async () => {
    set('/not-in-the-sandbox');
    const { chest } = await shopWith({ tools: [LOOK], sandbox: 'required' });
    const seen = 'SSL_CERT_FILE=\nSSL_CERT_DIR=\nNO_PROXY=.local\n';
    expect(said(await chest.call('look', {}))).toBe(`${seen}${NOT_FOR_COMMANDS}`);
  });
});

describe('a command that fails on a name or a certificate', () => {
  beforeEach(() => {
    for (const name of Object.keys(process.env))
      if (/proxy|ca_bundle|_cert|^(npm|uv|pip)_/i.test(name)) delete process.env[name];
  });
  const fails = (line: string, rest: object = {}) => script('fetch', `echo '${line}' >&2; exit 6`, rest);
  const messageOf = async (tool: object, sandbox: 'required' | 'none') => {
    const { chest } = await shopWith({ tools: [tool], sandbox });
    const result = await chest.call('fetch', {});
    return result.status === 'failed' ? result.error.message : result.status;
  };
  const RESOLVE = 'curl: (6) Could not resolve host: example.test';

  it.each(MODES)('names what it was not given, %s', async (_, sandbox) => {
    set('/etc/ssl');
    const message = await messageOf(fails(RESOLVE), sandbox);
    expect(message).toBe(
      `"fetch" ended with exit code 6: ${RESOLVE}\nThese variables were not passed on: HTTP_PROXY, PIP_INDEX_URL, UV_INDEX, https_proxy, npm_config_registry; set the ones that it needs in the env of its run.`,
    );
  });

  it.each(MODES)('does not name what its run sets, nor after another failure, %s', async (_, sandbox) => {
    set('/etc/ssl');
    const env = { HTTP_PROXY: 'http://a', https_proxy: 'http://a', PIP_INDEX_URL: 'x', UV_INDEX: 'x' };
    const tool = fails('SSL: certificate verify failed', { env });
    expect(await messageOf(tool, sandbox)).toMatch(/\nThese variables were not passed on: npm_config_registry; /);
    expect(await messageOf(fails('no such page'), sandbox)).toBe('"fetch" ended with exit code 6: no such page');
  });

  it.runIf(SANDBOX.ok)('names the certificates that its sandbox hides, and a sandbox without network', async () => {
    set('/not-in-the-sandbox');
    expect(await messageOf(fails(RESOLVE), 'required')).toMatch(/ SSL_CERT_DIR, SSL_CERT_FILE, /);
    expect(await messageOf(fails(RESOLVE, { sandbox: { network: false } }), 'required')).toMatch(
      /\nIts sandbox has no network: sandbox\.network is false\.$/,
    );
  });
});
