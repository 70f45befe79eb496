import type { Clock } from '../../core/ports/crib-context.ts';
import type { KeptListPort } from '../../core/ports/store.ts';
import type { LiveSource, Source, SourceContext } from '../../core/source.ts';
import { createKeptList, createListing, createWarnOnce } from '../../specs/spec-listing.ts';
import { idleClock, repeat, waitAtMost } from '../../system/clock.ts';
import { createOutputTail, type OutputTail } from '../../system/processes/child-output.ts';
import { type Connections, createConnections } from './connections.ts';
import { createLearning, readKeptEra } from './learn-tools.ts';
import type { McpServers, Share } from './mcp-servers.ts';
import { type McpAddress, type McpConnection, openConnection } from './open-connection.ts';
import { createShownTools, type ShownTools } from './shown-tools.ts';
import { createFirstStarts, type FirstStarts, LONGEST_START_MS } from './start-watch.ts';
import { createToolReader } from './tool-entry.ts';

/** Options for a source of MCP tools. */
export interface McpOptions {
  readonly name: string;
  readonly address: McpAddress;
  /** Identifies the server, without secrets: an approval given for a tool of another server does not count. */
  readonly server?: string | undefined;
  /** The registry in which calls find the server. */
  readonly servers: McpServers;
  /** Scope within which callers share a connection and its state; default all. */
  readonly share?: Share | undefined;
  /** Timeout for starting and listing tools; extended while the start shows progress. Default 60 s, and 10 s for a restart. */
  readonly initTimeoutMs?: number | undefined;
  /** Interval for listing tools again, in addition to change notifications; default never. */
  readonly refreshMs?: number | undefined;
  /** Cache of the last tool list, so that a later start need not start the server. */
  readonly kept?: KeptListPort | undefined;
  /** True if the source may start before an unknown tool list is loaded; default false. */
  readonly learnsLater?: boolean | undefined;
  /** True if a lost server is reconnected before a call needs it; default true. */
  readonly reopens?: boolean | undefined;
}

/** A source of the tools of an MCP server. The server is started or connected lazily. */
export function mcp(options: McpOptions): Source {
  const { name, servers, share = 'all' } = options;
  return {
    name,
    kinds: ['mcp'],
    onUse: () => servers.share(name, share),
    startTimeoutMs: LONGEST_START_MS, // the source's own timeout has the better message
    start: (context) => startMcp({ ...options, share }, context),
  };
}

type Settings = McpOptions & { readonly share: Share };

const FIRST_START_MS = 60_000;
const NEXT_START_MS = 10_000;
/** Longest time that other sources wait for the list of a starting server. */
const OTHERS_WAIT_MS = 10_000;

/** Waits for the list of a server, but at most `OTHERS_WAIT_MS` from the start. */
function whileOthersWait(learned: Promise<void>, begunAt: number, clock: Clock): Promise<void> {
  return waitAtMost(Math.max(0, begunAt + OTHERS_WAIT_MS - clock.now()), learned, clock);
}

async function startMcp(settings: Settings, context: SourceContext): Promise<LiveSource> {
  const { name, address, share, servers, refreshMs, initTimeoutMs = FIRST_START_MS } = settings;
  const begunAt = context.clock.now();
  const output = createOutputTail();
  output.onAdd((printed) => context.onOutput?.(name, printed));
  const listing = createListing();
  const told = createWarnOnce((trouble) => context.warn(`${name}: ${trouble}`));
  const kept = createKeptList(settings.kept, { clock: context.clock, warn: told.tell });
  const stored = context.isSuccessor === true ? undefined : await kept.read();
  let mayTell = settings.learnsLater === true;
  const tools = createShownTools({
    listing,
    kept,
    told,
    readTools: createToolReader({ source: name, isRemote: address.kind === 'remote', server: settings.server }),
    mayTell: () => mayTell && !context.signal.aborted,
  });
  const starts = createFirstStarts();
  const connections = connectionsTo({ settings, context, tools, output, starts, era: readKeptEra(stored?.about) });
  const server = { connections, share };
  let isAdded = false;
  const takeOver = (): void => {
    if (!isAdded) servers.add(name, server);
    isAdded = true;
  };
  if (context.isSuccessor !== true) takeOver();
  const learn = createLearning({ connections, tools, share, initTimeoutMs, clock: context.clock });
  let isLearning = stored === undefined;

  if (stored !== undefined) tools.showKept(stored);
  const learned = stored === undefined ? learn().finally(() => (isLearning = false)) : undefined;
  if (settings.learnsLater !== true && learned !== undefined) await whileOthersWait(learned, begunAt, context.clock);
  mayTell = true;
  const stop = refreshMs === undefined ? () => {} : repeat(refreshMs, learn);
  const { specs, onChange, status } = listing;
  return {
    specs,
    onChange,
    takeOver,
    ...(learned !== undefined && { listed: learned }),
    installed: () => starts.installed(address.kind === 'child' ? learned : undefined),
    status: () => (isLearning && specs().length === 0 ? starts.status() : status()),
    refresh: learn,
    ...(address.kind === 'child' && { output: output.text }),
    async close() {
      mayTell = false;
      stop();
      listing.close();
      if (isAdded) await servers.remove(name, server);
      else await connections.close(); // it never received calls
      await kept.written();
    },
  };
}

interface Connecting {
  readonly settings: Settings;
  readonly context: SourceContext;
  readonly tools: ShownTools;
  readonly output: OutputTail;
  readonly starts: FirstStarts;
  readonly era: ReturnType<typeof readKeptEra>;
}

function connectionsTo({ settings, context, tools, output, starts, era }: Connecting): Connections {
  const { address, share, initTimeoutMs, servers, reopens = true } = settings;
  let wasOpen = false;
  const { clock } = context;
  const announce = createAnnouncements(tools, idleClock);
  return createConnections({
    open(attempt) {
      const opening = openConnection({
        ...attempt,
        address,
        timeoutMs: initTimeoutMs ?? (wasOpen ? NEXT_START_MS : FIRST_START_MS),
        isFirst: !wasOpen,
        starts: servers.starts,
        onStart: starts.onStart,
        clock,
        idleClock,
        output,
        onToolsChanged: announce,
      });
      if (address.kind === 'child' && !wasOpen) starts.attempt(opening);
      return opening;
    },
    era,
    reopens: reopens && share === 'all',
    clock,
    idleClock,
    random: Math.random,
    onOpen(connection) {
      wasOpen = true;
      // After an outage the tools may differ. If each caller has a connection of its own, one list is enough.
      if (share === 'all' || !tools.isConfirmed()) tools.updateSoon(connection);
      else tools.recover();
    },
    onFailed: tools.fail,
    // The end of one caller's own connection does not affect the others.
    onLost: (reason) => share === 'all' && tools.fail(reason),
  });
}

/** Minimum time between two list requests. */
const PAUSE_MS = 100;

/** Handles change notifications: lists at once, but throttles a server that sends them continuously. */
function createAnnouncements(
  tools: Pick<ShownTools, 'forget' | 'updateSoon'>,
  clock: Clock,
): (connection: McpConnection) => void {
  /** Connections listed within the pause; true if a notification arrived since. */
  const justAsked = new Map<McpConnection, boolean>();
  return function announce(connection) {
    if (justAsked.has(connection)) {
      justAsked.set(connection, true);
      return;
    }
    justAsked.set(connection, false);
    tools.forget(connection);
    tools.updateSoon(connection);
    clock.setTimer(PAUSE_MS, () => {
      const isChanged = justAsked.get(connection) === true;
      justAsked.delete(connection);
      if (isChanged) announce(connection);
    });
  };
}
