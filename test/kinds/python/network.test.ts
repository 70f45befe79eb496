import { expect, it } from 'vitest';
import { folderWith } from '../../crib/workshop.ts';
import { cribWith } from '../mcp/upstream.ts';

it('a Python worker gets certificates and exceptions from proxies, and nothing that is for package runners', async () => {
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
