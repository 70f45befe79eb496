import { type ChildProcess, spawn } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = `./child-supervisor${extname(import.meta.url)}`; // .ts here, .js when built
/** A supervisor does next to nothing, so it gets next to nothing. */
const FRUGAL = ['--no-warnings', '--max-semi-space-size=1', '--max-old-space-size=32'];

/** Starts a supervisor, which waits for its order on the pipe that is its fourth stream; `io` is for the first three. */
export function startSupervisor(io: 'pipe' | 'ignore'): ChildProcess {
  const script = fileURLToPath(new URL(SCRIPT, import.meta.url));
  // Detached: a signal to our group is for us, and we end our children in good order.
  return spawn(process.execPath, [...FRUGAL, script], {
    env: compiledCode(),
    stdio: [io, io, io, 'pipe'],
    detached: true,
  });
}

/** Where Node was told to keep compiled code, which is all of our environment that a supervisor gets. */
function compiledCode(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}
