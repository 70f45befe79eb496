import { type Changes, compareCatalogs, type Generation } from '../core/catalog.ts';
import { messageOf } from '../core/tool-error.ts';
import type { Configuration } from './configured/configuration.ts';
import type { Engine } from './engine.ts';

const NOTHING_REPORTED: Promise<Generation['catalog'] | undefined> = Promise.resolve(undefined);

interface CribReload {
  /** Reads the configuration and every source again. */
  readonly reload: () => Promise<Changes>;
  /** Applies an edit of the configuration. Unchanged parts keep running and are not read again. */
  follow(): void;
}

/** Applies edits one after another, without waiting for the sources of the previous edit. A configuration with a mistake changes nothing. */
export function createReload(engine: Engine, configuration: Configuration | undefined): CribReload {
  let lastEdit: Promise<unknown> = Promise.resolve();
  let lastReport = NOTHING_REPORTED;
  const apply = async () => configuration?.readAgain(engine.apply);
  const beginEdit = () => {
    const edit = lastEdit.then(apply, apply);
    lastEdit = edit;
    return edit;
  };
  const follow = () =>
    void beginEdit()
      .then(() => engine.refresh(({ isBeside }) => isBeside === true))
      .catch((cause) => engine.warn(messageOf(cause)));
  const reload = async () => {
    const before = engine.generation().catalog;
    const earlier = lastReport;
    const edit = beginEdit();
    const read = edit.then(async (applied) => {
      await applied?.listed();
      await earlier; // so that each reports only its own changes
      await engine.refresh();
      return engine.generation().catalog;
    });
    const report = read.catch(() => undefined);
    lastReport = report;
    const [reported, now] = await Promise.all([earlier, read]).finally(() => {
      if (lastReport === report) lastReport = NOTHING_REPORTED; // later changes are not part of this report
    });
    return compareCatalogs(reported ?? before, now);
  };
  return { reload, follow };
}
