import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { GroupNews, GuardOrder } from './child-supervisor.ts';
import { startSupervisor } from './start-supervisor.ts';

/** One process beside this one that ends what we started, should this one be ended before it could. */
export interface ProcessGuard {
  /** Makes sure that somebody is on guard; costs nothing where somebody is. */
  start(): void;
  tell(news: GroupNews): void;
  /** For when nothing is left to be guarded. */
  close(): Promise<void>;
}

const GRACE_MS = 1000;

/** Guards all processes whose mark begins so. It is not there before the first of them. */
export function createProcessGuard(markPrefix: string): ProcessGuard {
  let guard: ChildProcess | undefined;
  const say = (what: GuardOrder | GroupNews) => {
    const pipe = guard?.stdio?.[3] as Socket | undefined; // a pipe was asked for
    if (pipe?.writable) pipe.write(`${JSON.stringify(what)}\n`);
  };
  const leave = (who: ChildProcess) => {
    if (guard === who) guard = undefined; // the next program gets another one
  };
  return {
    start() {
      if (guard !== undefined) return;
      const started = startSupervisor('ignore');
      guard = started;
      started.on('error', () => leave(started));
      started.on('exit', () => leave(started));
      const pipe = started.stdio?.[3] as Socket | undefined; // likewise; not there where nothing could be started
      pipe?.on('error', () => {}); // it has ended, and `exit` says so
      say({ guard: markPrefix, graceMs: GRACE_MS });
      // It is there for us, not we for it.
      started.unref();
      pipe?.unref();
    },
    tell(news) {
      // Elsewhere everybody shows its mark.
      if (process.platform !== 'linux') say(news);
    },
    async close() {
      const last = guard;
      if (last?.pid === undefined || last.exitCode !== null || last.signalCode !== null) return;
      last.ref();
      const gone = once(last, 'exit');
      last.kill('SIGKILL');
      await gone;
    },
  };
}
