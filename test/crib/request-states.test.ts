import { describe, expect, it, onTestFinished } from 'vitest';
import { createRequestStates } from '../../src/crib/request-states.ts';
import { type Crib, createCrib } from '../../src/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import { manualClock } from './manual-clock.ts';

const MINUTE = 60_000;
const MOST_OF_CALLER = 1000;

async function oneTool(): Promise<Crib> {
  const crib = await createCrib({ tools: [{ name: 'ask', description: '', run: () => 1 }], store: { url: 'memory:' } });
  onTestFinished(() => crib.close());
  return crib;
}

describe.each(['in memory', 'in a store'])('used request states %s', (place) => {
  async function states() {
    const clock = manualClock();
    const store = place === 'in a store' ? await openStore({ url: 'memory:', env: {}, now: clock.now }) : undefined;
    onTestFinished(() => store?.close());
    const kept = createRequestStates(store, clock);
    const [spec] = (await oneTool()).catalog.specs;
    if (spec === undefined) throw new Error('the tool is not there');
    const subjectOf = (id: string) => ({ caller: { id }, profile: 'all', called: 'ask', spec, arguments: {} });
    const seal = (id: string) => kept.seal(subjectOf(id), { of: id }, clock.now() + MINUTE);
    const use = async (id: string) => kept.open(subjectOf(id), await seal(id));
    return { clock, seal, use, open: (id: string, text: string) => kept.open(subjectOf(id), text) };
  }

  it('are limited per caller: one more is refused and not used, and later there is room again', async () => {
    const { clock, seal, use, open } = await states();
    for (let time = 0; time < MOST_OF_CALLER; time++) expect(await use('ann')).toEqual({ of: 'ann' });
    const late = await seal('ann');
    for (let time = 0; time < 3; time++)
      await expect(open('ann', late)).rejects.toMatchObject({
        code: 'too_many_states',
        message: expect.stringMatching(/at most 1000 per caller.*Nothing was done/),
      });
    expect(await use('bob')).toEqual({ of: 'bob' });
    clock.advance(4 * MINUTE);
    expect(await open('ann', late), 'it is over').toBeUndefined();
    expect(await use('ann')).toEqual({ of: 'ann' });
  });

  it('take one place, however often they are sent', async () => {
    const { seal, use, open } = await states();
    const once = await seal('ann');
    expect(await open('ann', once)).toEqual({ of: 'ann' });
    for (let time = 0; time < MOST_OF_CALLER + 5; time++) expect(await open('ann', once)).toBeUndefined();
    expect(await use('ann')).toEqual({ of: 'ann' });
  });

  it('are not taken by foreign states or for another caller', async () => {
    const { seal, use, open } = await states();
    const anns = await seal('ann');
    for (let time = 0; time < MOST_OF_CALLER + 5; time++) {
      expect(await open('bob', anns)).toBeUndefined();
      expect(await open('bob', 'x')).toBeUndefined();
    }
    expect(await use('bob')).toEqual({ of: 'bob' });
    expect(await open('ann', anns)).toEqual({ of: 'ann' });
  });
});

it('all callers together have a limit, too', async () => {
  const clock = manualClock();
  const kept = createRequestStates(undefined, clock);
  const [spec] = (await oneTool()).catalog.specs;
  if (spec === undefined) throw new Error('the tool is not there');
  const use = async (id: string) => {
    const subject = { caller: { id }, profile: 'all', called: 'ask', spec, arguments: {} };
    return kept.open(subject, await kept.seal(subject, {}, clock.now() + MINUTE));
  };
  const callers = Array.from({ length: 21 }, (_, index) => `caller ${index}`);
  const answers: unknown[] = [];
  for (const id of callers)
    for (let time = 0; time < MOST_OF_CALLER; time++)
      answers.push(await use(id).catch(({ code }: { readonly code: string }) => code));
  expect(answers.filter((answer) => answer === 'too_many_states')).toHaveLength(MOST_OF_CALLER);
  clock.advance(4 * MINUTE);
  expect(await use('caller 20')).toEqual({});
});

describe('crib.server.parked', () => {
  it.each([[undefined], [null], [7], [{}], [['x']]])('refuses %j, which is not an id', async (id) => {
    const crib = await oneTool();
    await expect(crib.server.parked(id as never, { id: 'ann' })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('parked() needs the id of a call'),
    });
  });

  it('refuses an invalid caller, and finds nothing under an unknown id', async () => {
    const crib = await oneTool();
    await expect(crib.server.parked('x', 'ann' as never)).rejects.toMatchObject({ code: 'invalid_option' });
    expect(await crib.server.parked('x', { id: 'ann' })).toBeUndefined();
    expect(await crib.server.parked('', undefined as never)).toBeUndefined();
  });
});
