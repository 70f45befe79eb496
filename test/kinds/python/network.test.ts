import { expect, it } from 'vitest';
import { folderWith } from '../../crib/workshop.ts';
import { cribWith } from '../mcp/upstream.ts';

it('a Python worker gets certificates and proxy exceptions, and nothing for package runners', async () => {
  Object.assign(process.env, {
    SSL_CERT_DIR: '/certs',
    NO_PROXY: '.local',
    HTTPS_PROXY: 'http://ann:password@proxy.test',
    npm_config_registry: 'https://registry.test',
    UV_INDEX: 'https://pypi.test',
    PIP_INDEX_URL: 'https://pypi.test',
  });
  const names = '("SSL_CERT_DIR", "NO_PROXY", "HTTPS_PROXY", "npm_config_registry", "UV_INDEX", "PIP_INDEX_URL")';
  const folder = folderWith({
    'a.py': `import os\n\ndef look():\n    """Looks."""\n    return [os.environ.get(name) for name in ${names}]\n`,
  });
  const crib = await cribWith({ py: { python: folder, initTimeoutMs: 60_000 } });
  const result = await (await crib.open()).call('look');
  expect(result).toMatchObject({ data: ['/certs', '.local', null, null, null, null] });
});

it('a function that fails on a name or a certificate names what its worker was not given', async () => {
  for (const name of Object.keys(process.env))
    if (/proxy|ca_bundle|_cert|^(npm|uv|pip)_/i.test(name)) delete process.env[name];
  Object.assign(process.env, { HTTPS_PROXY: 'http://ann:password@proxy.test', REQUESTS_CA_BUNDLE: '/ca.pem' });
  const folder = folderWith({
    'a.py': 'def fetch(why: str):\n    """Fetches."""\n    raise OSError(why)\n',
  });
  const why = '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed';
  const messageOf = async (said: string, rest = {}) => {
    const crib = await cribWith({ py: { python: folder, initTimeoutMs: 60_000 } }, { rest });
    const result = await (await crib.open()).call('fetch', { why: said });
    return result.status === 'failed' ? result.error.message : result.status;
  };
  expect(await messageOf(why)).toMatch(
    /^OSError: \[SSL.*\nThese variables were not passed on: HTTPS_PROXY, REQUESTS_CA_BUNDLE; set the ones that it needs in executors\.python\.env\.$/,
  );
  expect(await messageOf('no such page')).toBe('OSError: no such page');
  const given = { executors: { python: { env: { HTTPS_PROXY: 'http://proxy.test', REQUESTS_CA_BUNDLE: '/ca.pem' } } } };
  expect(await messageOf(why, given)).toBe(`OSError: ${why}`);
});
