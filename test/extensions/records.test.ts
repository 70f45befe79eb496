import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPoller } from '../../src/approvals/poller.ts';
import { NO_CONTEXT } from '../../src/core/ports/crib-context.ts';
import { NO_STOPS } from '../../src/core/ports/stored-stops.ts';
import { fromRooms } from '../../src/crib/bind-extensions.ts';
import { EXTENSION_ENTRIES, EXTENSIONS } from '../../src/extensions/index.ts';
import { createSchemas } from '../../src/schemas/create-schemas.ts';
import { systemClock } from '../../src/system/clock.ts';

const ports = {
  ...NO_CONTEXT,
  ...fromRooms(createPoller({ approvals: undefined, findLost: async () => false, warn() {} })),
  clock: systemClock,
  schemas: createSchemas(),
  audit: undefined,
  isAudited: () => false,
  findLost: async () => false,
  recheck: async () => undefined,
  stops: NO_STOPS,
  bundlesOf: () => [],
  warn() {},
};

/** The options that `make` looks at; each is absent, as it is for most. */
function readBy({ make, usual }: (typeof EXTENSIONS)[number]): ReadonlySet<string> {
  const read = new Set<string>();
  const options = new Proxy<Record<string, unknown>>(
    { ...usual },
    {
      get(target, key) {
        read.add(String(key));
        return target[String(key)];
      },
    },
  );
  make(options, ports);
  return read;
}

describe('the table of extensions', () => {
  it('has every file of the folder', () => {
    const files = readdirSync(join(import.meta.dirname, '../../src/extensions')).filter((file) => file !== 'index.ts');
    const toFile = (name: string) => `${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`;
    expect(EXTENSIONS.map(({ name }) => toFile(name)).sort()).toEqual(files.sort());
  });

  it('has an entry of the configuration for options of each, under the name of one of them', () => {
    for (const [entry, [first]] of EXTENSION_ENTRIES) expect(first?.name).toBe(entry);
  });

  it('has the priority and the reason of each', () => {
    for (const { priority, reason } of EXTENSIONS) {
      expect(priority).toBeGreaterThan(0);
      expect(reason).not.toBe('');
    }
  });

  it.each(EXTENSIONS.map((record) => [record.name, record] as const))(
    '%s reads every option it has',
    (_name, record) => {
      const read = readBy(record);
      const options = [...Object.keys(record.options?.properties ?? {}), ...(record.codeOptions ?? [])];
      expect(options.filter((option) => !read.has(option))).toEqual([]);
    },
  );
});
