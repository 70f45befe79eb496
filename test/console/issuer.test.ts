import { expect, it, onTestFinished } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { folderWith } from '../crib/workshop.ts';
import { startIssuer } from '../identity/issuer.ts';
import { serveCrib } from './browser.ts';
import { openConsole, useBrowser } from './harness.ts';

useBrowser();

/** An issuer whose user is signed in already, so it sends the browser back at once. */
async function startProvider() {
  const issuer = await startIssuer();
  const nonces = new Map<string, string>();
  issuer.discovery = {
    ...(issuer.discovery as object),
    authorization_endpoint: `${issuer.url}/authorize`,
    token_endpoint: `${issuer.url}/token`,
  };
  issuer.server.answer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer.url);
    const say = (body: unknown) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (pathname === '/keys') return say(issuer.jwks);
    if (pathname === '/authorize') {
      nonces.set('code-1', searchParams.get('nonce') ?? '');
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({ code: 'code-1', state: searchParams.get('state') ?? '' }).toString();
      response.writeHead(302, { location: back.href }).end();
      return undefined;
    }
    if (pathname !== '/token') return say(issuer.discovery);
    const nonce = nonces.get('code-1');
    return say({ token_type: 'Bearer', id_token: await issuer.sign({ nonce, sub: 'ann', roles: ['admin'] }) });
  });
  return issuer;
}

it('a person signs in at the issuer, comes back to the page, and sees what the roles of the claims allow', async () => {
  const issuer = await startProvider();
  const folder = folderWith({
    'toolcrib.yaml': `
profiles: { usual: {} }
access:
  jwt: { issuer: "${issuer.url}", audience: toolcrib, signIn: { clientId: toolcrib } }
  roles: { admin: { operator: true } }
`,
  });
  const crib = await createCrib({ configFile: folder, store: 'memory', watch: false });
  const server = await serveCrib(crib, folder);
  onTestFinished(async () => {
    await server.stop();
    await crib.close();
  });
  const page = await openConsole(server, { signedIn: false, path: '/sources?x=1' });
  await page.getByRole('link', { name: /^Sign in at/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Sources' }).waitFor();
  expect(page.url()).toBe(`${server.url}/sources?x=1`);
  await page.getByText('ann', { exact: false }).first().waitFor();
});
