import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { admits } from '../../src/core/access-clause.ts';
import type { Caller } from '../../src/core/caller.ts';
import { resolve } from '../../src/core/catalog.ts';
import { canonicalJson } from '../../src/core/json.ts';
import { META_SOURCE, RESERVED_NAMES } from '../../src/core/meta-tools.ts';
import {
  APPROVAL_MODES,
  LIMIT_KEYS,
  type Limits,
  type Policy,
  prefix,
  rename,
  tighten,
  tightenPolicy,
} from '../../src/core/policy.ts';
import { RUN, type ToolSpec } from '../../src/core/tool-spec.ts';
import { createCrib, type Source } from '../../src/index.ts';
import { caller, distinctSpecs, limits, policy, sourceLists, sourceOf, specOf } from './arbitraries.ts';

// Names that clash are warned about on purpose, hundreds of times.
beforeAll(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
});

describe('law 1: names', () => {
  it('A catalog never holds a name twice.', () => {
    fc.assert(
      fc.property(sourceLists, (lists) => {
        const names = resolve(lists).specs.map((spec) => spec.name);
        expect(names).toEqual([...new Set(names)]);
      }),
    );
  });

  it('The first list in configuration order owns a name, and every other claim is held back.', () => {
    fc.assert(
      fc.property(sourceLists, (lists) => {
        const catalog = resolve(lists);
        const claims = lists.flatMap(({ specs }) => specs);
        for (const claim of claims) {
          expect(catalog.get(claim.name)).toBe(claims.find((other) => other.name === claim.name));
        }
        expect(catalog.specs.length + catalog.held.length).toBe(claims.length);
      }),
    );
  });

  it('Reserved names belong to the list of the crib itself, wherever it stands, and to no other list.', () => {
    const like = fc.constantFrom(...RESERVED_NAMES, ...RESERVED_NAMES.map((name) => name.toUpperCase()), 'alpha');
    const listed = fc.array(fc.array(like, { maxLength: 4 }), { minLength: 1, maxLength: 4 });
    const toList = (source: string, names: readonly string[]) => ({
      source,
      specs: names.map((name) => specOf(name, { source })),
    });
    fc.assert(
      fc.property(listed, fc.nat(4), fc.subarray([...RESERVED_NAMES]), (lists, place, own) => {
        const others = lists.map((names, index) => toList(`source${index}`, names));
        const catalog = resolve(others.toSpliced(place, 0, toList(META_SOURCE, own)));
        const reserved = catalog.specs.filter(({ name }) => name.toLowerCase() !== 'alpha');
        expect(reserved.map(({ name, source }) => [name, source])).toEqual(own.map((name) => [name, META_SOURCE]));
      }),
    );
  });

  it('Resolving is deterministic in configuration order, not arrival order.', async () => {
    await fc.assert(
      fc.asyncProperty(sourceLists, fc.scheduler(), async (lists, scheduler) => {
        const sources = lists.map(({ source, specs }): Source => {
          const cold = sourceOf(source, specs);
          return { ...cold, start: (context) => scheduler.schedule(cold.start(context), source) };
        });
        const crib = await scheduler.waitFor(createCrib({ sources }));
        const inOrder = resolve(lists);
        expect(crib.catalog.specs.map(({ name, source }) => ({ name, source }))).toEqual(
          inOrder.specs.map(({ name, source }) => ({ name, source })),
        );
        expect(crib.catalog.held).toEqual(inOrder.held);
        await crib.close();
      }),
      { numRuns: 40 },
    );
  });
});

describe('law 3: tighten', () => {
  const limitsOf = (held: Policy): Limits =>
    Object.fromEntries(LIMIT_KEYS.flatMap((key) => (held[key] === undefined ? [] : [[key, held[key]]])));

  it('tighten is idempotent on limits.', () => {
    fc.assert(
      fc.property(policy, policy, (a, b) => {
        const once = tightenPolicy(a, b);
        expect(limitsOf(tightenPolicy(once, b))).toEqual(limitsOf(once));
        expect(limitsOf(tightenPolicy(once, once))).toEqual(limitsOf(once));
        expect(limitsOf(tightenPolicy(a, a))).toEqual(limitsOf(tightenPolicy(a, {})));
      }),
    );
  });

  it('tighten is commutative on limits.', () => {
    fc.assert(
      fc.property(policy, policy, (a, b) => {
        expect(limitsOf(tightenPolicy(a, b))).toEqual(limitsOf(tightenPolicy(b, a)));
      }),
    );
  });

  it('tighten is associative on limits.', () => {
    fc.assert(
      fc.property(policy, policy, policy, (a, b, c) => {
        const left = tightenPolicy(tightenPolicy(a, b), c);
        expect(left).toEqual(tightenPolicy(a, tightenPolicy(b, c)));
      }),
    );
  });

  it('No layer loosens a limit, whatever the order.', () => {
    const layers = fc.array(limits, { minLength: 1, maxLength: 4 });
    const twoOrders = layers.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length })),
    );
    fc.assert(
      fc.property(twoOrders, fc.array(caller), ([one, other], callers) => {
        const underAll = (list: readonly Limits[]) =>
          limitsOf(list.reduce<readonly ToolSpec[]>(tighten, [specOf('t')])[0]?.policy ?? {});
        const held = underAll(one);
        expect(underAll(other)).toEqual(held);
        for (const layer of one) expectAtLeastAsStrict(held, layer, callers);
      }),
    );
  });

  function expectAtLeastAsStrict(held: Limits, layer: Limits, callers: readonly Caller[]): void {
    const rank = (mode: Limits['approval']) => APPROVAL_MODES.indexOf(mode ?? 'never');
    expect(rank(held.approval)).toBeGreaterThanOrEqual(rank(layer.approval));
    if (layer.approvers !== undefined)
      expect(layer.approvers).toEqual(expect.arrayContaining([...(held.approvers ?? ['nobody'])]));
    expectContains(held.rates, layer.rates);
    expectContains(held.concurrency, layer.concurrency);
    for (const key of ['maxTimeoutMs', 'maxResultBytes'] as const) {
      expect(held[key] ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(layer[key] ?? Number.POSITIVE_INFINITY);
    }
    const isAdmitted = (limit: Limits, who: Caller) => (limit.access ?? []).every((clause) => admits(clause, who));
    for (const who of callers) if (isAdmitted(held, who)) expect(isAdmitted(layer, who)).toBe(true);
    expectContains(held.access, layer.access);
  }

  function expectContains(held: readonly unknown[] = [], said: readonly unknown[] = []): void {
    const texts = held.map(canonicalJson);
    for (const item of said) expect(texts).toContain(canonicalJson(item));
  }
});

describe('law 4: prefix and rename', () => {
  const newNames = fc.func(fc.constantFrom('one', 'two', 'three', 'four'));

  it('rename changes the name and the requires that point at it.', () => {
    fc.assert(
      fc.property(distinctSpecs, newNames, (specs, newName) => {
        const own = new Set(specs.map((spec) => spec.name));
        const expected = specs.map((spec) => ({
          ...spec,
          name: newName(spec.name),
          ...(spec.requires && { requires: spec.requires.map((name) => (own.has(name) ? newName(name) : name)) }),
        }));
        expect(rename(specs, newName)).toEqual(expected);
      }),
    );
  });

  it('prefix changes the name and the requires that point at it.', () => {
    fc.assert(
      fc.property(distinctSpecs, fc.constantFrom('w', 'gh', ''), (specs, word) => {
        const own = new Set(specs.map((spec) => spec.name));
        const prefixed = (name: string) => (word === '' || name.startsWith(`${word}_`) ? name : `${word}_${name}`);
        const renamed = prefix(specs, word);
        expect(renamed.map((spec) => spec.name)).toEqual(specs.map((spec) => prefixed(spec.name)));
        expect(renamed.map((spec) => spec.requires)).toEqual(
          specs.map((spec) => spec.requires?.map((name) => (own.has(name) ? prefixed(name) : name))),
        );
      }),
    );
  });

  it('The run of a tool and its name at its source stay.', () => {
    fc.assert(
      fc.property(distinctSpecs, newNames, (specs, newName) => {
        for (const renamed of [rename(specs, newName), prefix(specs, 'gh')]) {
          for (const [index, spec] of renamed.entries()) {
            expect(spec[RUN]).toBe(specs[index]?.[RUN]);
            expect(spec.origin).toBe(specs[index]?.origin);
          }
        }
      }),
    );
  });

  it('A prefix is not doubled.', () => {
    fc.assert(
      fc.property(distinctSpecs, fc.constantFrom('w', 'gh'), (specs, word) => {
        const once = prefix(specs, word);
        expect(prefix(once, word)).toEqual(once);
      }),
    );
  });
});
