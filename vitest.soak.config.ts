import { defineConfig } from 'vitest/config';

/** Long runs of load, chaos and fuzzing, which are no part of `npm test`. */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.test.ts'],
    testTimeout: 1_800_000,
    hookTimeout: 60_000,
    globalSetup: 'test/bundle-command-line.ts',
    setupFiles: ['test/own-surroundings.ts'],
  },
});
