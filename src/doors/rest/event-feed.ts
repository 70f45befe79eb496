import { randomUUID } from 'node:crypto';
import { FACTS, type ToolCall } from '../../core/tool-call.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { ToolResult } from '../../core/tool-result.ts';
import type { Crib } from '../../crib/crib.ts';
import type { SourceReport } from '../../crib/sources/source-slot.ts';
import { toShownApproval } from '../shown.ts';

/** Tells those who listen what happens in a crib. */
export interface EventFeed {
  /** Events from now on; undefined where too many listen. */
  open(): Promise<ReadableStream<Uint8Array> | undefined>;
  close(): void;
}

/** How a feed is run. */
export interface EventFeedOptions {
  readonly maxListeners?: number;
  /** How often a quiet connection hears something. */
  readonly heartbeatMs?: number;
}

/** So many of the newest approvals are watched. Of those that did not change only the state is read. */
const WATCHED_APPROVALS = 1000;
/** So many that changed are read at once. */
const APPROVALS_PER_PAGE = 100;

/** A feed that watches only while somebody listens. */
export function createEventFeed(crib: Crib, options: EventFeedOptions = {}): EventFeed {
  const { maxListeners = 100, heartbeatMs = 15_000 } = options;
  const listeners = new Set<Listener>();
  let watching: Watching | undefined;
  const tell: Tell = (event, data) => {
    for (const listener of listeners) listener.send(event, data);
  };
  const beatAll = () => {
    for (const listener of listeners) listener.beat();
  };
  return {
    async open() {
      if (listeners.size >= maxListeners) return undefined;
      const listener = createListener(() => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        watching?.stop();
        watching = undefined;
      });
      listeners.add(listener);
      watching ??= watch(crib, tell, { heartbeatMs, beatAll });
      await watching.ready; // what happens from now on is told
      return listener.stream;
    },
    close() {
      for (const listener of [...listeners]) listener.end();
    },
  };
}

type Tell = (event: 'calls' | 'approvals' | 'sources' | 'tools-changed', data: unknown) => void;

interface Watching {
  /** Resolves when it is known how things stand. */
  readonly ready: Promise<void>;
  stop(): void;
}

interface Rhythm {
  readonly heartbeatMs: number;
  beatAll(): void;
}

function watch(crib: Crib, tell: Tell, { heartbeatMs, beatAll }: Rhythm): Watching {
  const { look, stop: stopLooking } = crib.server.poll(createLook(crib, tell));
  const name = `restEvents-${randomUUID()}`; // another server may watch the same crib
  crib.extensions.add({
    name,
    priority: 1000,
    onEnd(call, result) {
      tell('calls', toShownEnd(call, result));
      if (result.status === 'waiting') void look();
    },
  });
  const timer = setInterval(beatAll, heartbeatMs).unref();
  const stops = [
    () => clearInterval(timer),
    stopLooking,
    () => crib.extensions.remove(name),
    crib.onChange((changes) => tell('tools-changed', changes)),
    crib.server.activeSets.onChange((profile) => tell('tools-changed', { profile })),
  ];
  return {
    ready: look(),
    stop() {
      for (const end of stops) end();
    },
  };
}

/** Looks for what has changed since the last look; the first one only learns how things stand. */
function createLook(crib: Crib, tell: Tell): () => Promise<void> {
  let approvals: ReadonlyMap<string, string> | undefined;
  let sources: ReadonlyMap<string, string> | undefined;
  return async () => {
    const reports = crib.sources();
    const now = new Map(reports.map((report) => [report.name, JSON.stringify(report)]));
    for (const report of sources === undefined ? [] : reports)
      if (sources?.get(report.name) !== now.get(report.name)) tell('sources', toShownSource(report));
    sources = now;
    try {
      const found = (await crib.store?.approvals.states(WATCHED_APPROVALS)) ?? [];
      const before = approvals;
      const changed = before === undefined ? [] : found.filter(({ id, state }) => before.get(id) !== state);
      await tellApprovals(
        changed.map(({ id }) => id),
        crib,
        tell,
      );
      approvals = new Map(found.map(({ id, state }) => [id, state]));
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause; // a store that does not answer now is asked again soon
    }
  };
}

/** Tells of these approvals, oldest first, page by page. */
async function tellApprovals(ids: readonly string[], crib: Crib, tell: Tell): Promise<void> {
  for (let start = 0; start < ids.length; start += APPROVALS_PER_PAGE) {
    const page = ids.slice(start, start + APPROVALS_PER_PAGE);
    for (const approval of await crib.approvals.list({ ids: page })) tell('approvals', toShownApproval(approval));
  }
}

function toShownSource({ since, ...report }: SourceReport): object {
  return since === undefined ? report : { ...report, since: new Date(since).toISOString() };
}

/** Without arguments and answers: those are looked up by who may see them. */
function toShownEnd(call: ToolCall, result: ToolResult) {
  const { id, spec, profile, caller, door, parent } = call;
  const { startedAt } = call[FACTS];
  return {
    callId: id,
    ...(parent !== undefined && { parentId: parent.id }),
    tool: spec.name,
    profile,
    ...(caller.id !== undefined && { caller: caller.id }),
    door,
    outcome: result.status === 'failed' ? result.error.code : result.status,
    at: new Date(startedAt).toISOString(),
  };
}

/** How many events wait for somebody who reads slowly, before the oldest are dropped. */
const MAX_WAITING = 1000;
/** How many are handed to the connection ahead of reading. */
const AHEAD = 16;

/** Somebody who listens. */
interface Listener {
  readonly stream: ReadableStream<Uint8Array>;
  send(event: string, data: unknown): void;
  /** Says that the connection lives, where nothing waits to be said. */
  beat(): void;
  end(): void;
}

/** A stream of server-sent events. Whoever reads too slowly is told how many were lost, and costs no more memory. */
function createListener(onGone: () => void): Listener {
  const encoder = new TextEncoder();
  const waiting: string[] = [];
  let lost = 0;
  let isOver = false;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  const hasRoom = () => (controller?.desiredSize ?? 0) > 0;
  const write = (text: string) => controller?.enqueue(encoder.encode(text));
  const flush = (): void => {
    if (isOver || !hasRoom()) return;
    if (lost > 0) write(toText('lost', { count: lost }));
    lost = 0;
    while (waiting.length > 0 && hasRoom()) write(waiting.shift() ?? '');
  };
  const leave = (): void => {
    if (isOver) return;
    isOver = true;
    waiting.length = 0;
    onGone();
  };

  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
        write(': connected\n\n'); // so that the headers leave at once
      },
      pull: flush,
      cancel: leave,
    },
    { highWaterMark: AHEAD },
  );
  return {
    stream,
    send(event, data) {
      if (isOver) return;
      waiting.push(toText(event, data));
      if (waiting.length > MAX_WAITING) {
        waiting.shift();
        lost++;
      }
      flush();
    },
    beat() {
      if (!isOver && waiting.length === 0 && hasRoom()) write(': \n\n');
    },
    end() {
      if (isOver) return;
      leave();
      controller?.close();
    },
  };
}

function toText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
