import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** What starts processes, databases or servers, waits for the file system, or loads the vendors' libraries. */
const SYSTEM = [
  'test/approvals/**/*.test.ts',
  'test/audit/**/*.test.ts',
  'test/doors/{mcp,rest}/**/*.test.ts',
  'test/doors/*.test.ts',
  'test/crib/**/*.test.ts',
  'test/kinds/{agent,function,mcp,python,shell}/**/*.test.ts',
  'test/kinds/{*,http/*}.test.ts',
  'test/formats/**/*.test.ts',
  'test/identity/**/*.test.ts',
  'test/load/**/*.test.ts',
  'test/sources/**/*.test.ts',
  'test/store/**/*.test.ts',
  'test/stops/*-on-sqlite.test.ts',
  'test/tasks/{chaos,killed-scripts,restart,run-on-worker,schedule{d-*,r}}.test.ts',
  'test/schemas/hostile-schemas.test.ts',
  'test/system/{fetch/guarded-fetch,watch}.test.ts',
  'test/architecture/where-to-add.test.ts',
];
/**
 * What mostly starts processes. Its workers have loaded little and stay small: starting a process takes twenty times as
 * long from one that has grown, because the system first copies its table of pages.
 */
const COMMANDS = ['test/doors/cli/**/*.test.ts', 'test/{recorded-answers,conformance,foreign,designs}/**/*.test.ts'];
/** What shares one PostgreSQL. */
const POSTGRES = [
  'test/**/*-on-postgres.test.ts',
  'test/store/{postgres,lost-answers}.test.ts',
  'test/audit/processes.test.ts',
  'test/crib/limits.test.ts',
];
/** What needs a process of its own. */
const ALONE = [
  'test/behaviour/deprecated-names.test.ts', // what is said once in a process
];
/** What needs the built package. */
const BUILT = ['test/package/**/*.test.ts'];

/** What opens the built console in a browser. */
const CONSOLE = ['test/console/**/*.test.ts'];

/** Long runs of load, chaos and fuzzing: `npm run test:soak`. */
const SOAK = ['test/soak/**/*.test.ts'];

/** Times are generous: a busy machine is not a failing test. */
const limits = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
  setupFiles: ['test/own-surroundings.ts'],
};

/** Modules are loaded once for all files of a worker, which is most of the time of many; test/own-surroundings.ts keeps them apart. */
const isolate = false;

export default defineConfig({
  test: {
    maxWorkers: availableParallelism() + 2, // some wait for times that are promised, and others work meanwhile
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...SYSTEM, ...COMMANDS, ...POSTGRES, ...ALONE, ...BUILT, ...CONSOLE, ...SOAK],
          isolate,
          ...limits,
        },
      },
      {
        test: {
          name: 'system',
          include: SYSTEM,
          exclude: [...POSTGRES, ...ALONE],
          globalSetup: 'test/bundle-command-line.ts',
          isolate,
          ...limits,
        },
      },
      {
        test: {
          name: 'commands',
          include: COMMANDS,
          exclude: POSTGRES,
          globalSetup: 'test/bundle-command-line.ts',
          isolate,
          ...limits,
        },
      },
      {
        test: {
          name: 'postgres',
          include: POSTGRES,
          globalSetup: ['test/bundle-command-line.ts', 'test/shared-postgres.ts'],
          isolate,
          ...limits,
        },
      },
      { test: { name: 'alone', include: ALONE, ...limits } },
      { test: { name: 'package', include: BUILT, globalSetup: 'test/package/packed-once.ts', ...limits } },
      { test: { name: 'console', include: CONSOLE, ...limits } },
    ],
  },
});
