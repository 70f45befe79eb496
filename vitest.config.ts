import { defineConfig } from 'vitest/config';

/** What runs from the sources in seconds, and what needs the built package. */
const BUILT = ['test/package/**/*.test.ts'];

/** Generous: a busy machine is not a failing test. */
const limits = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: BUILT, ...limits } },
      { test: { name: 'package', include: BUILT, ...limits } },
    ],
  },
});
