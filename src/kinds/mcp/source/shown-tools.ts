import { hash } from 'node:crypto';
import { canonicalJson, isJsonObject, type JsonObject } from '../../../core/json.ts';
import type { StoredList } from '../../../core/ports/store.ts';
import { messageOf } from '../../../core/tool-error.ts';
import type { KeptList } from '../../../specs/kept-list.ts';
import type { SpecListing } from '../../../specs/spec-listing.ts';
import type { WarnOnce } from '../../../specs/warn-once.ts';
import type { McpConnection } from '../connection/mcp-connection.ts';
import type { WireRequest } from '../connection/wire-requests.ts';
import { toKeptEra } from './kept-era.ts';
import { listTools, type ToolList } from './list-tools.ts';
import type { ReadToolList } from './tool-entry.ts';

/** Where the tools of a server are shown and kept. */
export interface ShownToolsOptions {
  readonly listing: SpecListing;
  readonly kept: KeptList;
  readonly told: WarnOnce;
  readonly readTools: ReadToolList;
  /** Whether somebody should hear why the server cannot be asked: not while it starts, which has its own report, nor when it is over. */
  mayTell(): boolean;
}

/** The tools of a server as its source shows them: those it lists now, else those of its last list. */
export interface ShownTools {
  /** Shows the list that was kept. */
  showKept(stored: StoredList): void;
  /** Shows what the server lists. Rejects with an `McpFailure`. */
  update(connection: McpConnection, onAbort?: WireRequest['onAbort']): Promise<void>;
  /** The same, later; what goes wrong is told. */
  updateSoon(connection: McpConnection): void;
  /** What this connection listed does not hold any more. */
  forget(connection: McpConnection): void;
  /** The server cannot be asked: the last list stays. */
  fail(reason: string): void;
  /** It can be asked again, and lists what it listed. */
  recover(): void;
  /** True once the server itself has listed its tools. */
  isConfirmed(): boolean;
}

const MAX_TOLD = 20;

function listOfOne(text: string | undefined): readonly string[] {
  return text === undefined ? [] : [text];
}

export function createShownTools(options: ShownToolsOptions): ShownTools {
  const { listing, kept, told, readTools } = options;
  const lists = new WeakMap<McpConnection, Promise<ToolList>>();
  let keptHash: string | undefined;
  let leftOut: string | undefined;
  let lastTurn = 0;
  let shownTurn = 0;

  const show = (tools: readonly JsonObject[], problems: readonly string[]): void => {
    const read = readTools(tools);
    const all = [...problems, ...read.problems];
    [leftOut] = all;
    for (const trouble of all.slice(0, MAX_TOLD)) told.tell(trouble);
    listing.show(read.specs, { leftOut });
  };

  const fail = (reason: string): void => {
    listing.fail(reason);
    if (options.mayTell()) told.tell(reason);
  };

  // Whoever asks while a list is on its way, or before another was announced, gets that one.
  const listOf = (connection: McpConnection, onAbort: WireRequest['onAbort']): Promise<ToolList> => {
    const asked = lists.get(connection) ?? listTools(connection, onAbort);
    lists.set(connection, asked);
    asked.catch(() => lists.get(connection) === asked && lists.delete(connection));
    return asked;
  };

  const update: ShownTools['update'] = async (connection, onAbort) => {
    const turn = ++lastTurn;
    const { tools, cut, problems } = await listOf(connection, onAbort);
    if (turn < shownTurn) return; // a later answer was quicker
    shownTurn = turn;
    told.forget();
    show(tools, [...listOfOne(cut), ...problems]); // what was cut comes first, lest the many problems hide it
    const now = hash('sha256', canonicalJson([tools, cut ?? null]));
    const about = { ...toKeptEra(connection.era), ...(cut !== undefined && { cut }) };
    if (now !== keptHash) kept.write(tools, { hash: now, about });
    keptHash = now;
  };

  return {
    update,
    fail,
    showKept(stored) {
      keptHash = stored.hash;
      const cut = stored.about?.cut;
      show(stored.specs.filter(isJsonObject), listOfOne(typeof cut === 'string' ? cut : undefined));
    },
    updateSoon(connection) {
      update(connection).catch((cause) => fail(`its tools cannot be listed: ${messageOf(cause)}`));
    },
    forget: (connection) => lists.delete(connection),
    recover: () => listing.show(listing.specs(), { leftOut }),
    isConfirmed: () => shownTurn > 0,
  };
}
