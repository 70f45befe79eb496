import { type ApprovalPoller, createPoller } from '../approvals/poller.ts';
import { createApprover } from '../approvals/request-approval.ts';
import { isPublicKey } from '../audit/proof.ts';
import type { Call } from '../call/call.ts';
import type { Cancellation } from '../call/cancellation.ts';
import type { ExtensionRecord } from '../config/records.ts';
import { BUILT_IN, type Extension } from '../core/extension.ts';
import type { AuditTrail } from '../core/ports/audit-trail.ts';
import { type CribContext, NO_CONTEXT } from '../core/ports/crib-context.ts';
import type { ExtensionPorts } from '../core/ports/extension-ports.ts';
import { NO_STOPS } from '../core/ports/stored-stops.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { ToolcribError, type ToolError } from '../core/tool-error.ts';
import { type ExtensionPlace, toExtension } from '../define/define-extension.ts';
import { traitsOf } from '../kinds/index.ts';
import { createSchemas } from '../schemas/create-schemas.ts';
import { createLiveStops, type LiveStops } from '../stops/live-stops.ts';
import { systemClock } from '../system/clock.ts';
import { readWebhook } from '../system/fetch/webhook.ts';

/** The key of the function that creates a built-in for a crib. */
const BIND: unique symbol = Symbol('toolcrib.bind');

type Bindable = Extension & {
  readonly [BIND]?: { make(ports: ExtensionPorts): Extension; readonly alone: Extension };
};

/** A built-in extension as code or configuration creates it. A crib creates its own instance of it, with access to the store and the clock. */
export function bindable<Options extends object>(record: ExtensionRecord<Options>, options: Options): Extension {
  const { name, priority } = record;
  const make = (ports: ExtensionPorts): Extension => {
    const parts = record.make(options, ports);
    return { ...parts, name, priority, ...(parts.wrap !== undefined && { unsafeOrder: true }) };
  };
  const alone = make(PORTS_OF_NOBODY);
  for (const hook of Object.values(alone)) if (typeof hook === 'function') HOOKS_OF_NOBODY.add(hook);
  return Object.defineProperty({ ...alone }, BIND, { value: { make, alone }, enumerable: true }); // a renamed copy stays bindable
}

/** The members of a built-in that a copy may change. */
const PLACE: readonly string[] = ['name', 'priority', 'unsafeOrder'];

/** Reads an extension from code or configuration. Throws if it would never take part in a call. */
export function readExtension(given: unknown, place: ExtensionPlace = {}): Extension {
  if (!isBindable(given)) {
    const made = toExtension(given, place); // first, since it reports invalid members
    requireOwnHooks(given);
    return made;
  }
  const { alone } = given[BIND];
  // The crib creates a new instance, so other changes in a copy would be lost.
  const changed = Object.keys(given).find(
    (key) => !PLACE.includes(key) && given[key as keyof Extension] !== alone[key as keyof Extension], // only compared
  );
  if (changed === undefined) return Object.keys(place).length === 0 ? given : { ...given, ...place };
  throw new ToolcribError(
    'invalid_option',
    `Extension "${given.name}" is built in, and a copy cannot replace its "${changed}"; write a custom extension with that name.`,
  );
}

/** Hooks of built-ins that do not belong to a crib, so they have no store. */
const HOOKS_OF_NOBODY = new WeakSet<object>();

/** Rejects an object with hooks copied from a built-in: they would run without the store of the crib. */
function requireOwnHooks(given: unknown): void {
  const members = Object.entries(given ?? {});
  const hook = members.find(([, value]) => typeof value === 'function' && HOOKS_OF_NOBODY.has(value));
  if (hook === undefined) return;
  const message = `An extension uses "${hook[0]}" of a built-in, which works only in the built-in itself; pass the built-in to createCrib, or a copy { ...it, name }.`;
  throw new ToolcribError('invalid_option', message);
}

function isBindable(given: unknown): given is Required<Bindable> {
  return typeof given === 'object' && given !== null && BIND in given;
}

/** True for a built-in under its own name. A built-in renamed to another's name does not do the work of that one. */
export function isBuiltIn(extension: Extension): boolean {
  return isBindable(extension) && extension[BIND].alone.name === extension.name;
}

/** Creates the instances of built-ins for one crib, each once, so that it keeps its state. */
export function createBinding(ports: ExtensionPorts): (extension: Extension) => Extension {
  const made = new WeakMap<Extension, Extension>();
  return (extension: Bindable) => {
    const bindable = extension?.[BIND];
    if (bindable === undefined) return extension;
    const known = made.get(extension);
    if (known !== undefined) return known;
    const { name, priority } = extension; // the configuration may have changed both
    const bound: Extension = { ...bindable.make(ports), name, priority, [BUILT_IN]: true };
    made.set(extension, bound);
    return bound;
  };
}

/** The audit trail of an audit extension outside a crib. It cannot record anything, so calls fail. */
const NO_TRAIL: AuditTrail = {
  record: hasNoTrail,
  recordLost: hasNoTrail,
  recordStop: hasNoTrail,
  intend: async () => hasNoTrail(),
  room: hasNoTrail,
  keepFor: () => {},
  backlog: hasNoTrail,
};

function hasNoTrail(): never {
  const message = 'audit() cannot record here: pass it to createCrib itself, not its hooks or a copy of it.';
  throw new ToolcribError('not_available', message);
}

/** The ports of extensions that other folders implement. */
export function fromRooms(
  poller: ApprovalPoller,
  onParked: () => void = () => {},
): Pick<ExtensionPorts, 'approver' | 'isPublicKey' | 'traitsOf'> {
  return {
    approver: (options, ports) =>
      createApprover(options, readWebhook(options.webhook, 'approval(): webhook'), { ...ports, poller, onParked }),
    isPublicKey,
    traitsOf,
  };
}

/** The emergency stops in force in a crib. */
export function createStopsInForce(
  { store, isStored }: CribContext,
  lifetime: Cancellation,
  warn: (message: string) => void,
): LiveStops {
  const running = () => lifetime.followers() as readonly Call[]; // the calls of the crib follow its lifetime
  const cancel = (call: ToolCall, reason: ToolError) => (call as Call).cancellation.abort(reason); // likewise
  return createLiveStops({ stored: store?.stops, isStored, running, cancel, warn });
}

const findLost = async () => false;
const warn = (message: string) => process.emitWarning(message, 'ToolcribWarning');

/** The ports of an extension outside a crib. Schemas are created lazily, as such an extension rarely runs. */
const PORTS_OF_NOBODY: ExtensionPorts = {
  clock: systemClock,
  get schemas() {
    return createSchemas();
  },
  ...NO_CONTEXT,
  ...fromRooms(createPoller({ approvals: undefined, findLost, warn })),
  audit: NO_TRAIL,
  isAudited: () => false,
  findLost,
  recheck: async () => undefined,
  stops: NO_STOPS,
  bundlesOf: () => [],
  warn,
};
