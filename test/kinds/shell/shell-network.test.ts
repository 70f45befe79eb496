import { describe, expect, it } from 'vitest';
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

describe('of the variables about the network a command gets', () => {
  it.each(MODES)('certificates and exceptions from proxies, %s', async (_, sandbox) => {
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
