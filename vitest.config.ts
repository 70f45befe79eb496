import { defineConfig } from 'vitest/config';

/** What runs from the sources in seconds, and what needs the built package. */
const BUILT = ['test/package/**/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: BUILT } },
      { test: { name: 'package', include: BUILT, testTimeout: 60_000 } },
    ],
  },
});
