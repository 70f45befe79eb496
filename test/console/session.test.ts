import { describe, expect, it } from 'vitest';
import { openConsole, useBrowser, useServer } from './harness.ts';

useBrowser();
const server = useServer();

const pagesOf = (page: Awaited<ReturnType<typeof openConsole>>) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts();

describe('the sign-in', () => {
  it('takes a key, shows the refusal of the server, and leaves nothing that scripts can read', async () => {
    const key = await server().keyFor('support');
    const page = await openConsole(server(), { signedIn: false, path: '/calls' });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const field = page.getByLabel('Operator token or API key');
    await field.fill('tck_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => page.getByRole('alert').innerText()).toMatch(/./);
    await field.fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
    const readable = await page.evaluate(() =>
      JSON.stringify([
        Object.entries(localStorage),
        Object.entries(sessionStorage),
        (globalThis as unknown as { document: { cookie: string } }).document.cookie,
      ]),
    );
    expect(readable).not.toContain(key.slice(5, 25));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('takes the link of the operator, and the token disappears from the address', async () => {
    const page = await openConsole(server(), { signedIn: false, path: `/tools?token=${server().token}` });
    await page.getByRole('heading', { name: 'Tools' }).waitFor();
    expect(page.url()).toBe(`${server().url}/tools`);
    await page.goto(`${server().url}/tools?token=wrong`);
    expect(page.url(), 'the session from before stays').toContain('/tools?signin=failed');
    const stranger = await openConsole(server(), { signedIn: false, path: '/tools?token=wrong' });
    await expect.poll(() => stranger.getByRole('alert').innerText()).toContain('The sign-in failed');
  });
});

describe('roles', () => {
  it('an operator sees every page, a caller its own, an approver approvals alone', async () => {
    const operator = await openConsole(server());
    await expect.poll(() => pagesOf(operator)).toHaveLength(4);
    const caller = await openConsole(server(), { signedIn: await server().keyFor('support') });
    await expect
      .poll(async () => (await pagesOf(caller)).map((text) => text.split('\n')[0]))
      .toEqual(['Tools', 'Approvals', 'Calls']);
    await caller.goto(`${server().url}/sources`);
    await caller.getByText('Your role does not include this page.').waitFor();
    const approver = await openConsole(server(), { signedIn: await server().keyFor('approver') });
    await approver.getByRole('heading', { name: 'Approvals' }).waitFor();
    expect(approver.url()).toBe(`${server().url}/approvals`);
    await approver.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    expect((await pagesOf(approver)).map((text) => text.split('\n')[0])).toEqual(['Approvals']);
  });
});

describe('a session that ends while the operator works', () => {
  it('keeps the page and the half-filled form, asks on top, and then sends the request again', async () => {
    const { crib } = server();
    const { key, info } = await crib.keys.create({ name: 'ops', roles: ['admin'] }, 'test');
    const page = await openConsole(server(), { signedIn: key, path: '/sources/shop' });
    await page.getByRole('button', { name: 'Stop …', exact: true }).click();
    const note = page.getByLabel('Note');
    await note.fill('half a sentence');
    await crib.keys.revoke(info.id, 'test');
    await page.getByRole('button', { name: 'Stop shop' }).click();
    const asks = page.getByRole('dialog', { name: 'Your session has ended' });
    await asks.waitFor();
    await page.keyboard.press('Escape');
    expect(await asks.isVisible(), 'it cannot be dismissed').toBe(true);
    expect(await note.inputValue()).toBe('half a sentence');
    expect(await crib.stops.list()).toEqual([]);
    await asks.getByLabel('Operator token or API key').fill(server().token);
    await asks.getByRole('button', { name: 'Sign in' }).click();
    await asks.waitFor({ state: 'detached' });
    await expect
      .poll(() => crib.stops.list())
      .toMatchObject([{ target: 'source:shop', note: 'half a sentence', by: 'operator' }]);
    await page.getByRole('listitem').filter({ hasText: 'source:shop' }).getByText('stopped by operator').waitFor();
    await page.getByRole('listitem').getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => crib.stops.list()).toEqual([]);
  });

  it('goes on in every tab when the operator signs in in one of them', async () => {
    const { crib } = server();
    const { key, info } = await crib.keys.create({ name: 'tabs', roles: ['admin'] }, 'test');
    const first = await openConsole(server(), { signedIn: key, path: '/sources' });
    const second = await openConsole(server(), { context: first.context(), path: '/sources/billing' });
    await second.getByRole('button', { name: 'Reload' }).waitFor();
    await crib.keys.revoke(info.id, 'test');
    await second.getByRole('button', { name: 'Reload' }).dispatchEvent('click'); // the stream may have asked already
    await second.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await first.bringToFront();
    await first.getByRole('link', { name: 'shop', exact: true }).dispatchEvent('click');
    const asks = first.getByRole('dialog', { name: 'Your session has ended' });
    await asks.getByLabel('Operator token or API key').fill(server().token);
    await asks.getByRole('button', { name: 'Sign in' }).click();
    await second.getByRole('dialog').waitFor({ state: 'detached' });
    await second.getByText('Nothing changed').waitFor();
  });

  it('ends in every tab when the operator signs out in one of them', async () => {
    const first = await openConsole(server(), { path: '/calls' });
    const context = first.context();
    const second = await openConsole(server(), { context, path: '/sources/shop' });
    const third = await openConsole(server(), { context, path: '/tools' });
    for (const page of [first, second, third]) await page.getByText('Live', { exact: true }).first().waitFor();
    await third.getByRole('button', { name: 'Sign out' }).click();
    await third.getByRole('heading', { name: 'Sign in' }).waitFor();
    for (const page of [first, second]) await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  });

  it('shows and sends nothing of a caller after another one has signed in', async () => {
    const { crib } = server();
    const create = (name: string) => crib.keys.create({ name, roles: ['support'] }, 'test');
    const [ann, bob] = [await create('ann'), await create('bob')];
    const page = await openConsole(server(), { signedIn: ann.key, path: '/tools' });
    await page.getByRole('heading', { name: 'Tools' }).waitFor();
    const other = await openConsole(server(), { context: page.context(), path: '/calls' });
    await other.getByRole('heading', { name: 'Calls' }).waitFor();
    await page.evaluate(() => Object.assign(globalThis, { isOfAnn: true }));
    await other.evaluate(() => Object.assign(globalThis, { isOfAnn: true }));
    await crib.keys.revoke(ann.info.id, 'test');
    const sent: string[] = [];
    await page.route('**/api/search?**', (route) => {
      sent.push(route.request().url());
      return route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('orders of ann');
    const asks = page.getByRole('dialog', { name: 'Your session has ended' });
    await asks.waitFor();
    await asks.getByLabel('Operator token or API key').fill(bob.key);
    const before = sent.length;
    await asks.getByRole('button', { name: 'Sign in' }).click();
    const isOfAnn = (tab: typeof page) => tab.evaluate(() => 'isOfAnn' in globalThis).catch(() => true);
    await expect.poll(() => isOfAnn(page), { timeout: 20_000 }).toBe(false);
    await expect.poll(() => isOfAnn(other), { timeout: 20_000 }).toBe(false);
    await page.getByRole('heading', { name: 'Tools' }).waitFor();
    expect(sent.length, 'what ann asked is not asked for bob').toBe(before);
  });
});
