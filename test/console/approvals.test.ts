import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { HOSTILE, soon, useDesk } from './approval-desk.ts';
import { openConsole, useBrowser } from './harness.ts';

useBrowser();
const desk = useDesk();

const card = (page: Page): Locator => page.getByRole('article', { name: 'Request for approval' });
const approve = (page: Page): Locator => page.getByRole('button', { name: /^Approve/ }).last();
/** Waits until the card takes answers: a denial is possible. */
const isStill = (page: Page) => soon(() => page.getByRole('button', { name: /^Deny/ }).isEnabled()).toBe(true);
const open = (id: string, more: object = {}) => openConsole(desk(), { path: `/approvals/${id}`, ...more });
const stateOf = async (id: string) => (await desk().crib.approvals.get(id))?.state;

describe('the inbox of approvals', () => {
  it('shows a request that arrives while the page is open, as a sentence', async () => {
    const page = await openConsole(desk(), { path: '/approvals' });
    await page.getByRole('navigation', { name: 'Kinds of requests' }).waitFor();
    const id = await desk().call('pay', { to: 'Ada', amount: 20 });
    await page.locator(`[data-request="${id}"]`).click();
    await soon(() => card(page).innerText()).toMatch(/alice wants to run pay to “Ada”\./);
    expect(await card(page).innerText()).toContain('Asked because it is destructive.');
    expect(page.url()).toContain(`/approvals/${id}`);
  });

  it('shows an answer that a second client gave, with its approver, and what became of the call', async () => {
    const id = await desk().call('pay', { to: 'Grace', amount: 1 });
    const page = await open(id);
    await approve(page).waitFor();
    await desk().crib.approvals.answer(id, { decision: 'approve', note: 'as agreed' }, { id: 'bob', operator: true });
    await card(page).getByText('The call has run').waitFor();
    expect(await card(page).innerText()).toMatch(/Approved\s+by\s+bob/);
    expect(await card(page).innerText()).toContain('“as agreed”');
    await soon(() => page.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
  });

  it('answers with a note, and the server runs the call', async () => {
    const id = await desk().call('pay', { to: 'Alan' });
    const page = await open(id);
    await page.getByLabel('Note to the caller').fill('not this month');
    await page.getByRole('button', { name: /^Deny/ }).click();
    await card(page).getByText('Denied').waitFor();
    expect(await desk().crib.approvals.get(id)).toMatchObject({
      state: 'denied',
      answer: { by: 'operator', note: 'not this month' },
    });
  });

  it('says who was first if two approvers answer', async () => {
    const id = await desk().call('pay', { to: 'Edsger' });
    const page = await open(id);
    await isStill(page);
    // The answer of the second approver arrives while that of the first is on its way.
    await page.route(`**/api/approvals/${id}`, async (route) => {
      if (route.request().method() === 'POST')
        await desk().crib.approvals.answer(id, { decision: 'deny' }, { id: 'bob', operator: true });
      await route.continue();
    });
    await approve(page).click();
    await soon(() => card(page).innerText()).toMatch(/Denied\s+by\s+bob/);
  });
});

describe('the card of an approval', () => {
  it('keeps Approve disabled until every folded value was opened', async () => {
    const id = await desk().call('pay', {
      to: 'Ada',
      memo: 'x'.repeat(45_000),
      list: Array.from({ length: 30 }, (_, n) => n),
    });
    const page = await open(id);
    await page.getByText('2 values are folded. Open them before you approve.').waitFor();
    expect(await card(page).innerText()).toContain('45,000 characters');
    await isStill(page);
    expect(await approve(page).isDisabled()).toBe(true);
    await page.keyboard.press('a');
    await page
      .getByRole('button', { name: /Open it/ })
      .first()
      .click();
    await page.getByText('One value is folded. Open it before you approve.').waitFor();
    await page.getByRole('button', { name: /45,000 characters/ }).click();
    // A long value is opened page by page, and counts as seen at its end.
    await page.getByRole('button', { name: /25,000 characters more/ }).click();
    await isStill(page);
    expect(await approve(page).isDisabled()).toBe(true);
    await page.getByRole('button', { name: /5,000 characters more/ }).click();
    await soon(() => approve(page).isEnabled()).toBe(true);
    expect(await stateOf(id)).toBe('waiting');
  });

  it('ignores keys for 400 ms after it appeared or moved', async () => {
    const ids = [await desk().call('pay', { to: 'one', at: 1 }), await desk().call('pay', { to: 'two', at: 2 })];
    const page = await open(ids[0] ?? '');
    await approve(page).waitFor();
    await page.clock.install();
    await page.reload();
    await approve(page).waitFor();
    for (const [key, text] of [
      ['j', '“two”'],
      ['k', '“one”'],
    ] as const) {
      await page.keyboard.press(key); // both requests are loaded before time stands still
      await card(page).getByText(text).waitFor();
    }
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.keyboard.press('j');
    await card(page).getByText('“two”').waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('d');
    await page.clock.runFor(399);
    await page.keyboard.press('a');
    expect(await approve(page).isDisabled()).toBe(true);
    expect(await stateOf(ids[1] ?? '')).toBe('waiting');
    await page.clock.runFor(1);
    await soon(() => approve(page).isEnabled()).toBe(true);
    await page.setViewportSize({ width: 1440, height: 700 }); // the answers move up
    await soon(() => approve(page).isDisabled()).toBe(true);
    await page.keyboard.press('a');
    expect(await stateOf(ids[1] ?? '')).toBe('waiting');
    await page.clock.runFor(400);
    await soon(() => approve(page).isEnabled()).toBe(true);
    await page.keyboard.press('a');
    await soon(() => stateOf(ids[1] ?? '')).not.toBe('waiting');
    expect(await stateOf(ids[0] ?? '')).toBe('waiting');
  });

  it('does not take the keys G and A, which lead to the page, for an approval', async () => {
    const id = await desk().call('pay', { to: 'keys' });
    const page = await open(id);
    await isStill(page);
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await soon(() => new URL(page.url()).pathname).toBe('/approvals');
    await page.goto(`${desk().url}/approvals/${id}`);
    await isStill(page);
    await page.getByLabel('for the same arguments').check();
    await page.getByLabel('for this call only').check(); // keys count while a choice has the focus
    await isStill(page);
    expect(await stateOf(id)).toBe('waiting');
    await page.keyboard.press('a');
    await soon(() => stateOf(id)).not.toBe('waiting');
  });

  it('compares with the last approved call of the same tool and caller, and names what the answer is bound to', async () => {
    const first = await desk().call('pay', { to: 'Ada', amount: 20, urgent: true }, { caller: 'carol' });
    await desk().crib.approvals.answer(first, { decision: 'approve' }, { id: 'bob', operator: true });
    const id = await desk().call('pay', { to: 'Ada', amount: 2000, note: 'final' }, { caller: 'carol' });
    const page = await open(id);
    await card(page).getByText('1 changed, 1 new, 1 gone, 1 the same. Compared with the').waitFor();
    const text = await card(page).innerText();
    expect(text).toMatch(/amount\s+changed\s+2000\s+before: 20/);
    expect(text).toMatch(/urgent\s+gone/);
    const binding = await desk().crib.approvals.binding(id);
    expect(text).toContain(`arguments ${binding?.argumentsHash.slice(0, 8)}`);
    expect(text).toContain(`definition ${binding?.definitionHash.slice(0, 8)}`);
  });

  it('counts down to its end', async () => {
    const id = await desk().call('pay', { to: 'Countdown' });
    const page = await open(id);
    await card(page)
      .getByText(/Expires in 23 h 59 min/)
      .waitFor();
    await page.clock.install({ time: Date.now() + 86_400_000 - 30_000 });
    await page.reload();
    await card(page)
      .getByText(/Expires in 0:\d\d/)
      .waitFor();
    await page.clock.runFor(31_000);
    await card(page).getByText('The request has expired.').waitFor();
    expect(await approve(page).isDisabled()).toBe(true);
  });

  it('shows the rule of a remembered approval before it is saved; it is listed and can be revoked', async () => {
    const id = await desk().call('pay', { to: 'Barbara', amount: 5 }, { caller: 'dave', conversation: 'chat-7' });
    const page = await open(id);
    await page.getByLabel('for this conversation').check();
    const rule = page.getByLabel('Rule of the remembered approval');
    expect(await rule.innerText()).toMatch(/Calls of pay by dave in the profile desk run without asking/);
    expect(await rule.innerText()).toContain('Any arguments, only in the conversation chat-7.');
    await page.getByLabel('for further calls').check();
    await page.getByLabel('Number of calls').fill('3');
    await page.getByLabel('amount', { exact: true }).check();
    await page.getByLabel('Highest amount').fill('50');
    expect(await rule.innerText()).toMatch(
      /3 further calls, with exactly these arguments .* except:\s+amount: a number from 0 to 50/,
    );
    await page.getByRole('button', { name: 'Approve and remember' }).click();
    await card(page).getByText('Approved').first().waitFor();
    expect(await desk().call('pay', { to: 'Barbara', amount: 49 }, { caller: 'dave', conversation: 'chat-7' })).toBe(
      'done',
    );
    await page.getByRole('link', { name: 'Remembered' }).click();
    await page.getByText(/2 calls left/).waitFor();
    expect(await rule.innerText()).toMatch(/2 further calls/);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No approval is remembered.').waitFor();
    expect(await desk().crib.approvals.grants()).toEqual([]);
  });

  it('shows the calls of a batch on one card; they are answered one by one or together', async () => {
    await desk().call('cleanup', { batch: 'batch-7' }, { caller: 'script-agent' });
    const page = await openConsole(desk(), { path: '/approvals' });
    await page.getByRole('navigation', { name: 'Kinds of requests' }).waitFor();
    await desk().crib.store?.approvals.sealBatch('batch-7');
    await page.goto(`${desk().url}/approvals/batch-7`);
    await card(page).getByText('script-agent wants to make 3 calls inside cleanup.').waitFor();
    for (const what of ['first', 'second', 'third']) expect(await card(page).innerText()).toContain(what);
    const items = card(page).getByRole('listitem');
    const second = items.filter({ hasText: 'second' });
    await second.getByRole('button', { name: 'Answer alone' }).click();
    await second.getByRole('button', { name: /^Deny/ }).click();
    await second.getByText('Denied', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Approve 2' }).click();
    const states = async () =>
      (await desk().crib.store?.approvals.ofBatch('batch-7'))?.map(({ answer }) => answer?.decision);
    await soon(states).toEqual(expect.arrayContaining(['approve', 'approve', 'deny']));
  });
});

describe('who may answer', () => {
  it('the caller of a request sees why it may not answer, and no remembered approvals', async () => {
    const id = await desk().call('pay', { to: 'myself' }, { caller: 'olga' });
    const { key } = await desk().crib.keys.create({ name: 'olga', caller: 'olga', roles: ['support'] }, 'test');
    const page = await open(id, { signedIn: key });
    await card(page).getByText('A caller cannot approve its own calls.').waitFor();
    expect(await page.getByRole('button', { name: /^(Approve|Deny)/ }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Remembered' }).count()).toBe(0);
    expect(await page.locator('[data-request]').count()).toBe(1);
  });
});

describe('notifications', () => {
  it('are sent after the user has asked for them, for requests that arrive while another window is in front', async () => {
    const page = await openConsole(desk(), { path: '/sources' });
    await page.addInitScript(NOTED);
    await page.goto(`${desk().url}/approvals`);
    const unasked = await desk().call('pay', { to: 'unasked' });
    await page.locator(`[data-request="${unasked}"]`).waitFor();
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByRole('button', { name: 'Notifications on' }).waitFor();
    await desk().call('pay', { to: 'noted' }, { caller: HOSTILE.bidi });
    await soon(() => page.evaluate('notes')).toEqual(['invoice[U+202E]fdp.exe[U+202C] wants to run pay']);
  });
});

/** Notes notifications in the place of the browser, which has no user to ask here; another window has the focus. */
const NOTED = `
  globalThis.notes = [];
  globalThis.Notification = class {
    static permission = 'default';
    static requestPermission = async () => (this.permission = 'granted');
    constructor(_title, { body }) { notes.push(body); }
  };
  document.hasFocus = () => false;
`;

describe('hostile text in an approval', () => {
  it('is shown as text, with suspicious characters marked and counted, and runs nothing', async () => {
    const id = await desk().call('wipe', {
      path: HOSTILE.bidi,
      [HOSTILE.markup]: HOSTILE.markup,
      site: HOSTILE.lookalike,
      raw: HOSTILE.control,
      [`long ${'n'.repeat(3000)}`]: 'w'.repeat(350),
    });
    const page = await open(id);
    page.on('dialog', () => expect.unreachable('a script ran'));
    await approve(page).waitFor();
    expect(await card(page).locator('script, img').count()).toBe(0);
    const text = await card(page).innerText();
    expect(text).toContain('<script>alert(1)</script>');
    for (const code of ['U+202E', 'U+0000', 'U+001B', 'U+0007', 'U+0430']) expect(text).toContain(code);
    expect(text).toContain('Suspicious characters: right-to-left override');
    expect(text).toContain('(3,005 characters)');
    for (const character of ['\u202e', '\u0000', '\u001b']) expect(text).not.toContain(character);
    const overflow = await page.evaluate(SIDEWAYS);
    expect(overflow).toBe(0);
  });
});

/** How far the page or the card could be scrolled sideways, in pixels. */
const SIDEWAYS =
  'Math.max(...[...document.querySelectorAll("html, main, main > div, article, article > *, dl, dl > *")].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))';

describe('on a phone', () => {
  it('the list and the card fit, and a request can be answered', async () => {
    const id = await desk().call('pay', {
      to: 'a place with a long name that wraps',
      iban: 'DE89370400440532013000'.repeat(8),
    });
    const page = await openConsole(desk(), { path: '/approvals', width: 390, height: 844 });
    const entry = page.locator(`[data-request="${id}"]`);
    await entry.waitFor();
    expect(await page.evaluate(SIDEWAYS)).toBe(0);
    await entry.click();
    await approve(page).waitFor();
    expect(await entry.isVisible()).toBe(false);
    expect(await page.evaluate(SIDEWAYS)).toBe(0);
    const box = await approve(page).boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(40);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    await page.getByLabel('for all calls, for a time').check();
    const isRuleInView = async () => {
      const end = await page.getByText('or when an operator revokes it').boundingBox();
      const answers = await page.getByLabel('Note to the caller').boundingBox();
      return end !== null && answers !== null && end.y + end.height <= answers.y;
    };
    await soon(isRuleInView).toBe(true);
    await page.getByLabel('for this call only').check();
    await approve(page).click();
    await soon(() => stateOf(id)).not.toBe('waiting');
  });
});
