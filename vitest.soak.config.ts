import { defineConfig } from 'vitest/config';

/** Long runs of load, chaos and fuzzing, which are no part of `npm test`. */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.test.ts'],
    testTimeout: 900_000,
    hookTimeout: 60_000,
    setupFiles: ['test/own-state-folder.ts'],
  },
});
