import { describe, expect, it } from 'vitest';
import type { Ranked } from '../../src/core/retriever.ts';
import { createCrib, defineBundle, type Retriever, type ToolInput } from '../../src/index.ts';
import { rankGoal } from '../../src/search/goals/rank-goal.ts';
import { splitGoal } from '../../src/search/goals/split-goal.ts';
import { namesOf } from './specs.ts';

const tool = (name: string, description: string): ToolInput => ({
  name,
  description,
  input: { type: 'object' },
  run: () => 'ok',
});

/** Many tools for one step, and one for each of two others. */
const CHAT = [
  tool('create_channel', 'Create a channel'),
  tool('create_private_channel', 'Create a private channel'),
  tool('create_shared_channel', 'Create a shared channel'),
  tool('create_archived_channel', 'Create an archived channel'),
  tool('create_test_channel', 'Create a channel for tests'),
  tool('invite_person', 'Invite a person'),
  tool('post_message', 'Post a message'),
];
const GOAL = 'create a channel, invite Mia and post a welcome message';

describe('a goal', () => {
  it.each<[string, readonly string[]]>([
    ['create a channel, invite Mia and post a welcome', ['create a channel', 'invite Mia', 'post a welcome']],
    ['Stop the VM. Then start it again!', ['Stop the VM', 'start it again']],
    ['tell Mr. Bell the price: 1,000 euros', ['tell Mr. Bell the price', '1,000 euros']],
    ['创建频道，邀请成员。', ['创建频道', '邀请成员']],
    ['read the file', ['read the file']],
    ['and then, the', ['and then, the']],
    ['', ['']],
  ])('%j has the steps %j', (goal, steps) => {
    expect(splitGoal(goal).map(({ text }) => text)).toEqual(steps);
  });

  it('has at most six steps', () => {
    expect(splitGoal('do it; '.repeat(1000) + 'walk, '.repeat(1000))).toHaveLength(6);
  });

  it('gives a step the things of the step before', () => {
    expect(splitGoal('create the pay code and remove the old one').at(-1)).toEqual({
      text: 'remove the old one',
      inContext: 'remove the old one the pay code',
    });
  });
});

describe('a search by goal', () => {
  it('returns the tools of every step before further ones for a step', async () => {
    const chest = await (await createCrib({ tools: CHAT })).open();
    const hits = await chest.search({ goal: GOAL, limit: 3 });
    expect(namesOf(hits)).toEqual(['create_channel', 'invite_person', 'post_message']);
    expect(hits[1]).toMatchObject({ confidence: 'high', why: expect.stringMatching(/^for "invite Mia": /) });
    expect(namesOf(await chest.search({ goal: GOAL }))).toHaveLength(CHAT.length);
    expect(namesOf(await chest.search({ goal: GOAL }, { limit: 1 }))).toEqual(['create_channel']);
  });

  it('adds the tools that belong with the hits on request', async () => {
    const bundle = defineBundle({
      name: 'people',
      tools: [tool('invite_person', 'Invite a person'), tool('zap', 'Z')],
    });
    const crib = await createCrib({ tools: CHAT.filter(({ name }) => name !== 'invite_person'), bundles: [bundle] });
    const chest = await crib.open();
    expect(namesOf(await chest.search({ goal: GOAL, limit: 3 }))).not.toContain('zap');
    const hits = await chest.search({ goal: GOAL, limit: 3, expand: true });
    expect(hits.at(-1)).toMatchObject({ name: 'zap', score: 0, why: 'belongs with invite_person' });
  });

  it('returns only tools of the profile, in the order that it prefers', async () => {
    const profiles = {
      agent: { exclude: ['create_channel'], search: { pin: ['create_test_channel'], bury: ['invite_*'] } },
    };
    const chest = await (await createCrib({ tools: CHAT, profiles })).open('agent', { id: 'alice' });
    const found = namesOf(await chest.search({ goal: GOAL }));
    expect(found[0]).toBe('create_test_channel');
    expect(found).not.toContain('create_channel');
    expect(found).toContain('invite_person');
  });

  it('returns nothing below minScore, and nothing at all if no step finds anything', async () => {
    const nothing: Retriever = { add() {}, remove() {}, rank: async () => [] };
    const blind = await (await createCrib({ tools: CHAT, retriever: nothing })).open();
    expect(await blind.search({ goal: GOAL })).toEqual([]);
    const chest = await (await createCrib({ tools: CHAT })).open();
    const hits = await chest.search({ goal: GOAL, minScore: 0.9 });
    expect(hits.length).toBeGreaterThan(0);
    for (const { score } of hits) expect(score).toBeGreaterThanOrEqual(0.9);
  });

  it('prefers the source that fits the whole goal, and things with the name of another step', async () => {
    const hit = (name: string, score: number): Ranked => ({ name, score, why: 'mine' });
    const ranked: Readonly<Record<string, readonly Ranked[]>> = {
      'find a ticket': [hit('find_ticket', 0.8), hit('find_seat', 0.8)],
      'close it': [hit('close_door', 0.6), hit('close_ticket', 0.55)],
    };
    const found = await rankGoal('find a ticket and close it', {
      limit: 2,
      rank: async (query) => ranked[query] ?? [],
      toolOf: (name) => ({ origin: name, source: 'desk', preference: undefined }),
    });
    expect(namesOf(found)).toEqual(['find_ticket', 'close_ticket']);
  });

  it('has high confidence at first if any step has', async () => {
    const rank = async (query: string) =>
      query === 'fly' ? [{ name: 'fly', score: 0.9, confidence: 'high', why: '' } as const] : [];
    const toolOf = (name: string) => ({ origin: name, source: '', preference: undefined });
    const low = { name: 'swim', score: 0.1, confidence: 'low', why: '' } as const;
    const both = async (query: string) => (query === 'swim' ? [low] : rank(query));
    const found = await rankGoal('swim, fly', { limit: 5, rank: both, toolOf });
    expect(found.map(({ name, confidence }) => [name, confidence])).toEqual([
      ['swim', 'high'],
      ['fly', 'high'],
    ]);
  });

  it('for any answer of a retriever, the hits are tools of the view, each once, and at most the requested number', async () => {
    const retriever: Retriever = {
      add() {},
      remove() {},
      rank: async () =>
        ['nowhere', 'post_message', 'post_message', 'create_channel', 'search_tools', 'invite_person'].map((name) => ({
          name,
          score: 1,
          why: 'mine',
        })),
    };
    const chest = await (await createCrib({ tools: CHAT, retriever })).open();
    expect(namesOf(await chest.search({ goal: GOAL, limit: 2 }))).toHaveLength(2);
    const all = namesOf(await chest.search({ goal: GOAL }));
    expect(all.toSorted()).toEqual(['create_channel', 'invite_person', 'post_message']);
  });

  it.each<[unknown, RegExp]>([
    [{ goal: 5 }, /"goal" must be text, got 5/],
    [{}, /"goal" must be text, got nothing/],
    [{ goal: 'x', limt: 5 }, /search has no "limt"/],
    [{ goal: 'x', limit: -1 }, /"limit" must be a number of at least 0/],
    [undefined, /the query must be text, got nothing/],
    [['x'], /the query must be text, got a list/],
  ])('refuses %j', async (request, message) => {
    const chest = await (await createCrib({ tools: CHAT })).open();
    await expect(chest.search(request as string)).rejects.toThrow(message);
  });
});
