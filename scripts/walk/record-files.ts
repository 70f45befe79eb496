import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Runs some work and returns the files in which a function ran meanwhile, sorted. */
export type FilesRunBy = (work: () => Promise<unknown>) => Promise<readonly string[]>;

/** Long enough for what goes on after an answer, such as a batch of the audit. */
const SETTLED_MS = 500;

/** Counts every call of every function from now on; so it has to be there before the first file of `src` is loaded. */
export async function createRecorder(src: string): Promise<{ readonly filesRunBy: FilesRunBy }> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const base = `${pathToFileURL(src)}/`;
  return {
    async filesRunBy(work) {
      await session.post('Profiler.takePreciseCoverage'); // begins to count anew
      await work();
      await setTimeout(SETTLED_MS);
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const ran = result.filter(({ url, functions }) => {
        // What begins at the very start is the module itself: it runs when it is loaded.
        const inside = functions.flatMap(({ ranges }) => ranges).filter(({ startOffset }) => startOffset > 0);
        return url.startsWith(base) && inside.some(({ count }) => count > 0);
      });
      return [...new Set(ran.map(({ url }) => relative(src, fileURLToPath(url))))].toSorted();
    },
  };
}
