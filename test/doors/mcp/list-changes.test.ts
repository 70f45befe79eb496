import { expect, it } from 'vitest';
import { createListChanges, type ToolListing } from '../../../src/doors/mcp/listings.ts';
import { modernRequest, post } from './clients.ts';
import { startGateway } from './gateway.ts';

/** A crib whose listings change when told to, and a look that takes as long as it is let. */
function scene() {
  const listeners = new Set<() => void>();
  const looks: PromiseWithResolvers<ToolListing>[] = [];
  const changes = createListChanges({
    onListings(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  return {
    changes,
    change: () => {
      for (const listener of listeners) listener();
    },
    look() {
      const next = Promise.withResolvers<ToolListing>();
      looks.push(next);
      return next.promise;
    },
    looks,
  };
}

const listing = (): ToolListing => ({}) as ToolListing; // only which one it is counts

it('a change before the first read has ended is announced', async () => {
  const { changes, change, look, looks } = scene();
  const told = Promise.withResolvers<void>();
  changes.follow(look, told.resolve);
  change();
  const after = listing(); // the first look came too late to see what was there before
  looks[0]?.resolve(after);
  await expect.poll(() => looks.length).toBe(2);
  looks[1]?.resolve(after);
  await told.promise;
});

it('a change that leaves the list equal is not announced', async () => {
  const { changes, change, look, looks } = scene();
  let count = 0;
  changes.follow(look, () => {
    count++;
  });
  const same = listing();
  looks[0]?.resolve(same);
  await new Promise(setImmediate);
  change();
  await expect.poll(() => looks.length).toBe(2);
  looks[1]?.resolve(same);
  change();
  await expect.poll(() => looks.length).toBe(3);
  expect(count).toBe(0);
});

it('an event stream ends when the server is about to, and calls continue', async () => {
  const entered = Promise.withResolvers<void>();
  const left = Promise.withResolvers<string>();
  const run = () => {
    entered.resolve();
    return left.promise;
  };
  const gateway = await startGateway({ tools: [{ name: 'wait', description: 'Wait', run }] });
  const { body, headers } = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const news = await fetch(gateway.url(), {
    method: 'POST',
    headers: { ...accept, ...headers },
    body: JSON.stringify(body),
  });
  expect(news.headers.get('content-type')).toContain('text/event-stream');
  const { body: called, headers: calling } = modernRequest('tools/call', { name: 'wait', arguments: {} });
  const answer = post(gateway.url(), called, calling);
  await entered.promise;
  gateway.endNews();
  expect(await news.text()).toContain('notifications/subscriptions/acknowledged');
  left.resolve('waited');
  expect((await answer).messages[0]?.result).toMatchObject({ content: [{ text: 'waited' }] });
});
