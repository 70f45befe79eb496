import { type ApprovalPoller, createPoller } from '../approvals/poller.ts';
import { createApprover } from '../approvals/request-approval.ts';
import { readWebhook } from '../approvals/webhook.ts';
import { isPublicKey } from '../audit/proof.ts';
import type { ExtensionRecord } from '../config/records.ts';
import type { Extension } from '../core/extension.ts';
import { NO_CONTEXT } from '../core/ports/crib-context.ts';
import type { ExtensionPorts } from '../core/ports/extension-ports.ts';
import type { AuditTrail } from '../core/ports/stored-audit.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { type ExtensionPlace, toExtension } from '../define/define-extension.ts';
import { traitsOf } from '../kinds/index.ts';
import { createSchemas } from '../schemas/create-schemas.ts';
import { systemClock } from '../system/clock.ts';

/** The key under which a built-in says how it is made with what its crib has. */
const BIND: unique symbol = Symbol('toolcrib.bind');

type Bindable = Extension & {
  readonly [BIND]?: { make(ports: ExtensionPorts): Extension; readonly alone: Extension };
};

/** A built-in as code and configuration name it: it works alone, and is made anew for the crib that takes it in. */
export function bindable<Options extends object>(record: ExtensionRecord<Options>, options: Options): Extension {
  const { name, priority } = record;
  const make = (ports: ExtensionPorts): Extension => {
    const parts = record.make(options, ports);
    return { ...parts, name, priority, ...(parts.wrap !== undefined && { unsafeOrder: true }) };
  };
  const alone = make(PORTS_OF_NOBODY);
  for (const hook of Object.values(alone)) if (typeof hook === 'function') HOOKS_OF_NOBODY.add(hook);
  return Object.defineProperty({ ...alone }, BIND, { value: { make, alone }, enumerable: true }); // a copy under another name stays bindable
}

/** What may be said about a built-in without making another extension of it. */
const PLACE: readonly string[] = ['name', 'priority', 'unsafeOrder'];

/** Whatever code or a configuration gives for an extension, as one. Throws for one that would be taken in and never asked. */
export function readExtension(given: unknown, place: ExtensionPlace = {}): Extension {
  if (!isBindable(given)) {
    const made = toExtension(given, place); // first, since it says what cannot be read
    requireOwnHooks(given);
    return made;
  }
  const { alone } = given[BIND];
  // It is made anew for its crib: what a copy of it changes would be lost.
  const changed = Object.keys(given).find(
    (key) => !PLACE.includes(key) && given[key as keyof Extension] !== alone[key as keyof Extension], // compared only
  );
  if (changed === undefined) return Object.keys(place).length === 0 ? given : { ...given, ...place };
  throw new ToolcribError(
    'invalid_option',
    `Extension "${given.name}" is built in, and its "${changed}" cannot be replaced in a copy; write an extension of that name.`,
  );
}

/** The hooks of built-ins before a crib took them in: they have nothing of a crib, such as its store. */
const HOOKS_OF_NOBODY = new WeakSet<object>();

/** A copy that has the hooks of a built-in and not what makes it anew would work with nothing of its crib. */
function requireOwnHooks(given: unknown): void {
  const members = Object.entries(given ?? {});
  const hook = members.find(([, value]) => typeof value === 'function' && HOOKS_OF_NOBODY.has(value));
  if (hook === undefined) return;
  const message = `An extension has "${hook[0]}" of a built-in, which works only as it is: give the built-in itself to createCrib, or a copy made by { ...it, name }.`;
  throw new ToolcribError('invalid_option', message);
}

function isBindable(given: unknown): given is Required<Bindable> {
  return typeof given === 'object' && given !== null && BIND in given;
}

/** True for a built-in under its own name: one that bears the name of another does not do its work. */
export function isBuiltIn(extension: Extension): boolean {
  return isBindable(extension) && extension[BIND].alone.name === extension.name;
}

/** The extension for the crib that has these ports; each is made once, so that it keeps its state. */
export function createBinding(ports: ExtensionPorts): (extension: Extension) => Extension {
  const made = new WeakMap<Extension, Extension>();
  return (extension: Bindable) => {
    const bindable = extension?.[BIND];
    if (bindable === undefined) return extension;
    const known = made.get(extension);
    if (known !== undefined) return known;
    const { name, priority } = extension; // a configuration may have renamed or moved it
    const bound = { ...bindable.make(ports), name, priority };
    made.set(extension, bound);
    return bound;
  };
}

/** An extension that no crib has taken in, or hooks that were taken out of one, could record nothing: calls fail instead. */
const NO_TRAIL: AuditTrail = {
  record: hasNoTrail,
  recordLost: hasNoTrail,
  intend: async () => hasNoTrail(),
  room: hasNoTrail,
  keepFor: () => {},
  backlog: hasNoTrail,
};

function hasNoTrail(): never {
  const message = 'audit() records only as it is: give it to createCrib itself, not its hooks and not a copy of it.';
  throw new ToolcribError('not_available', message);
}

/** What extensions get of rooms that they do not know. */
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

const findLost = async () => false;
const warn = (message: string) => process.emitWarning(message, 'ToolcribWarning');

/** Made at first look: an extension alone is hardly ever run. */
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
  bundlesOf: () => [],
  warn,
};
