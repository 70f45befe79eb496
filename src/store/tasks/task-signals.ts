import type { StoredTasks } from '../../core/ports/stored-tasks.ts';
import type { Progress } from '../../core/tool-call.ts';
import { createListeners } from '../../system/listeners.ts';
import { type SqlEngine, type Statement, sql } from '../engines/sql-engine.ts';
import { isHashedKey } from './task-rows.ts';

const CHANNEL = 'toolcrib_tasks';

/** Tells this process and, on PostgreSQL, the others that tasks have changed. */
export interface TaskSignals {
  /** The end of a `RETURNING` clause that tells the other processes about each changed task. */
  readonly returning: string;
  /** A statement that tells the other processes that some task may have changed. */
  readonly announce: readonly Statement[];
  /** Tells this process; '' means that any task may have changed. */
  tell(id: string): void;
  /** For those that follow tasks. `onChange` starts to listen to the other processes with the first listener. */
  readonly watched: Pick<StoredTasks, 'onChange' | 'onProgress' | 'tellProgress'>;
}

/** Creates the signals of one process. It does not listen to its own announcements. */
export function createTaskSignals(engine: SqlEngine, process: string): TaskSignals {
  const listeners = createListeners<[id: string]>();
  const progress = createListeners<[id: string, progress: Progress]>();
  const isShared = engine.listen !== undefined;
  let count = 0;
  let stopListening: (() => void) | undefined;
  const hear = (message: string): void => {
    const end = message.indexOf(' ');
    const id = message.slice(end + 1);
    if (message.slice(0, end) !== process) listeners.tell(isHashedKey(id) ? '' : id);
  };
  return {
    returning: isShared
      ? `toolcrib_tasks.id, pg_notify('${CHANNEL}', '${process} ' || toolcrib_tasks.id)`
      : 'toolcrib_tasks.id',
    announce: isShared ? [sql`SELECT pg_notify(${CHANNEL}, ${`${process} `})`] : [],
    tell: listeners.tell,
    watched: {
      onChange(listener) {
        const remove = listeners.add((id) => listener(id));
        if (count++ === 0) stopListening = engine.listen?.(CHANNEL, hear);
        let isRemoved = false;
        return () => {
          if (isRemoved) return;
          isRemoved = true;
          remove();
          if (--count === 0) stopListening?.();
        };
      },
      tellProgress: progress.tell,
      onProgress: progress.add,
    },
  };
}
