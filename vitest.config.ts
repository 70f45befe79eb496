import { defineConfig } from 'vitest/config';

/** What starts processes, databases or servers, waits for the file system, or loads the vendors' libraries. */
const SYSTEM = [
  'test/cli/**/*.test.ts',
  'test/configured/**/*.test.ts',
  'test/formats/**/*.test.ts',
  'test/sources/**/*.test.ts',
  'test/store/**/*.test.ts',
  'test/runtime/{guarded-fetch,watch,hostile-schemas}.test.ts',
];
/** What needs the built package. */
const BUILT = ['test/package/**/*.test.ts'];

/** Generous: a busy machine is not a failing test. */
const limits = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: [...SYSTEM, ...BUILT], ...limits } },
      { test: { name: 'system', include: SYSTEM, ...limits } },
      { test: { name: 'package', include: BUILT, ...limits } },
    ],
  },
});
