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

/** An MCP server whose tools are a source. */
export interface McpOptions {
  readonly name: string;
  readonly address: McpAddress;
  /** Text that stands for the server, without what is secret: an approval for a tool of another one does not count. */
  readonly server?: string | undefined;
  /** Where calls find the server. */
  readonly servers: McpServers;
  /** Who shares a connection and its state; default all. */
  readonly share?: Share | undefined;
  /** How long it may take to start and list its tools, as long as it shows no progress; default 60 s, and 10 s for one that was there before. */
  readonly initTimeoutMs?: number | undefined;
  /** How often its list is asked for, besides when it says that it has changed; default never. */
  readonly refreshMs?: number | undefined;
  /** Where the last list is kept, so that a start that knows it starts no server. */
  readonly kept?: KeptListPort | undefined;
  /** Whether the source has started before a list that is not known was learned; default false. */
  readonly learnsLater?: boolean | undefined;
  /** Whether a server that was lost is started again before anybody needs it; default true. */
  readonly reopens?: boolean | undefined;
}

/** The source of the tools of an MCP server: the server is started or reached when somebody first needs it. */
export function mcp(options: McpOptions): Source {
  const { name, servers, share = 'all' } = options;
  return {
    name,
    kinds: ['mcp'],
    onUse: () => servers.share(name, share),
    startTimeoutMs: LONGEST_START_MS, // it says better itself what took so long
    start: (context) => startMcp({ ...options, share }, context),
  };
}

type Settings = McpOptions & { readonly share: Share };

const FIRST_START_MS = 60_000;
const NEXT_START_MS = 10_000;
/** How long the others wait for the list of a server that starts. */
const OTHERS_WAIT_MS = 10_000;

/** Waits for the list of a server, but no longer than the others do. */
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
      else await connections.close(); // no call ever came to it
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
      // After it was away its tools may be others. Where each caller has a server, asking once is enough.
      if (share === 'all' || !tools.isConfirmed()) tools.updateSoon(connection);
      else tools.recover();
    },
    onFailed: tools.fail,
    // Somebody's own server that ends is nobody else's business.
    onLost: (reason) => share === 'all' && tools.fail(reason),
  });
}

/** How long the next announcement waits after the list was asked for. */
const PAUSE_MS = 100;

/** Takes announcements of other tools: the list is asked for at once, but of a server that announces without end only a few times a second. */
function createAnnouncements(
  tools: Pick<ShownTools, 'forget' | 'updateSoon'>,
  clock: Clock,
): (connection: McpConnection) => void {
  /** Connections that were asked just now, and whether they have announced something since. */
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
