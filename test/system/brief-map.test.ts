import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BriefMap, BriefSet } from '../../src/system/brief-map.ts';

it('holds values by key until they are removed', () => {
  const map = new BriefMap<string, number>();
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, 2, undefined]);
  expect([map.delete('a'), map.delete('a')]).toEqual([true, false]);
  expect([map.has('a'), map.has('b'), map.size]).toEqual([false, true, 1]);
  expect(map.values()).toEqual([2]);
});

it('holds equal values once each, until each is removed', () => {
  const set = new BriefSet<string>();
  const removals = [set.add('a'), set.add('a')];
  expect(set.values()).toEqual(['a', 'a']);
  removals[0]?.();
  removals[0]?.();
  expect([set.size, set.values()]).toEqual([1, ['a']]);
});

const BYTES = 4000;

/** How many bytes of each value the garbage collector takes for living, of 50,000 that come and go, 64 at once. */
function agedBytes(adding: string): number {
  const file = join(import.meta.dirname, '../../src/system/brief-map.ts');
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { BriefSet } from ${JSON.stringify(file)};
    const oldBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size;
    const set = ${adding};
    const removals = [];
    let last = oldBytes();
    let aged = 0;
    for (let count = 0; count < 50_000; count++) {
      if (count === 500) gc(); // whatever lives now is old from here on
      removals.push(set.add(new Array(${BYTES} / 8).fill(count)));
      if (removals.length > 64) removals.shift()();
      const now = oldBytes();
      if (count > 500) aged += Math.max(0, now - last);
      last = now;
    }
    console.log(aged / 50_000);`;
  return Number(
    execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], { encoding: 'utf8' }),
  );
}

it('values that come and go are not kept until the whole heap is collected, as those of a Set are', () => {
  const plain = '{ values: new Set(), add(value) { this.values.add(value); return () => this.values.delete(value); } }';
  expect(agedBytes(plain)).toBeGreaterThan(BYTES / 2); // if this fails, V8 has changed, and the class is not needed
  expect(agedBytes('new BriefSet()')).toBeLessThan(BYTES / 8);
});
