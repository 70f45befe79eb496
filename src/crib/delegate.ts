import type { CallOptions } from '../call/call-input.ts';
import type { Caller } from '../core/caller.ts';
import type { ProfileSet } from '../core/catalog.ts';
import type { JsonObject } from '../core/json.ts';
import { META_SOURCE } from '../core/meta-tools.ts';
import type { Profile } from '../core/profile.ts';
import { defined } from '../core/read-options.ts';
import { toSearchAnswer } from '../core/retriever.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
import { isElsewhere, type ToolSpec } from '../core/tool-spec.ts';
import type { View } from '../core/view.ts';
import { compileGlob } from '../core/visible-text.ts';
import { defineTool } from '../define/define-tool.ts';
import type { DescribedTarget } from '../search/describe-own-tools.ts';

/** A delegation that a call asks for. */
interface WantedTarget {
  /** The name of the target. */
  readonly name: string;
  /** The profile of the call, as it is now. */
  profile(): Profile;
  profiles(): ProfileSet;
  readonly caller: Caller;
}

/** The profile to open for the caller, and the options of all its calls. */
interface ChosenTarget {
  readonly profile: Profile;
  readonly options: CallOptions;
  /** Wraps the calls of the target, so that they are refused once the grant is withdrawn. An agent may make them for minutes. */
  whileGranted(call: ToolCall['tools']['call']): ToolCall['tools']['call'];
}

type Refused = { readonly ok: false; readonly error: ToolError };

/**
 * The target of a delegation. The entry in `delegate` is the grant: the caller itself need not be able to open the target.
 * A call under all tools needs no grant, because no profile has more.
 */
export async function chooseTarget(call: ToolCall, wanted: WantedTarget): Promise<ChosenTarget | Refused> {
  const name = String(wanted.name);
  const [from, profiles] = [wanted.profile(), wanted.profiles()];
  const mode = modeOf(wanted, name);
  const profile = profiles.byName.get(name);
  if (mode === undefined || profile === undefined) {
    const { delegate = {} } = from;
    const targets = Object.keys(delegate).filter((target) => profiles.byName.has(target));
    const allowed = targets.length === 0 ? 'no profile' : `only ${targets.join(', ')}`;
    return refuse(`Profile "${from.name}" cannot delegate to "${name.slice(0, 100)}"; it may delegate to ${allowed}.`);
  }
  if (mode === 'ask' && !(await call.confirm(`May "${from.name}" delegate to the profile "${name}"?`)))
    return refuse(`The delegation from "${from.name}" to "${name}" was not approved.`);
  // A parked call is taken up under its own profile, which the caller may not be able to open. A script is taken up as a whole.
  const isOfScript = call.spec.source === META_SOURCE && call.batch !== undefined;
  const options = isOfScript || mayOpen(wanted.caller, name) ? {} : { park: false };
  return {
    profile,
    options,
    whileGranted: (call) => async (tool, input, given) => {
      const now = modeOf(wanted, name);
      if (now === 'open' || (now !== undefined && now === mode)) return call(tool, input, given);
      const message = `The delegation from "${from.name}" to "${name}" has ended: the configuration no longer allows it.`;
      return failed(toolError('denied', message));
    },
  };
}

/** The mode of a delegation as the configuration allows it now; undefined if it does not. */
function modeOf({ profile, profiles }: WantedTarget, name: string): 'ask' | 'open' | undefined {
  const [from, { everything, byName }] = [profile(), profiles()];
  if (from === everything) return 'open';
  const { delegate = {} } = from;
  return byName.has(name) && Object.hasOwn(delegate, name) ? delegate[name] : undefined;
}

function refuse(message: string): Refused {
  return { ok: false, error: toolError('denied', message) };
}

function mayOpen({ profiles }: Caller, name: string): boolean {
  return profiles === undefined || profiles.some((glob) => compileGlob(glob)(name));
}

/** The targets of a view, with the tools that the caller has there. */
export function targetsOf(
  { profile: { delegate = {} } }: View,
  { byName }: ProfileSet,
  viewOf: (profile: Profile) => View,
): readonly DescribedTarget[] {
  return Object.entries(delegate).flatMap(([name, mode]) => {
    const profile = byName.get(name);
    return profile === undefined ? [] : [{ name, mode, view: viewOf(profile) }];
  });
}

interface DelegateInput {
  readonly profile: string;
  readonly query?: string;
  readonly tool?: string;
  readonly arguments?: JsonObject;
}

const MOST_FOUND = 5;

/** The tool `delegate`. It has no effects of its own: each call under the target passes its own gates. */
export const delegateTool: ToolSpec = defineTool({
  name: 'delegate',
  title: 'Delegate to another profile',
  description:
    'Uses the tools of another profile. With query it finds tools there, with their input schemas; with tool and arguments it calls one.',
  input: {
    type: 'object',
    properties: {
      profile: { type: 'string', minLength: 1, maxLength: 200, description: 'The profile to delegate to.' },
      query: { type: 'string', minLength: 1, maxLength: 4000, description: 'A description of what should be done.' },
      tool: { type: 'string', minLength: 1, maxLength: 200, description: 'The tool to call.' },
      arguments: { type: 'object', description: 'Arguments that match its input schema.' },
    },
    required: ['profile'],
    additionalProperties: false,
  },
  policy: { approval: 'never' },
  run: (input, call) => delegate(input as DelegateInput, call), // validated by its schema
});

/**
 * How the call under the target waits for approval. For a script it waits in the batch of this call, which has done
 * nothing that a replay would repeat. A worker would request the approval itself, for a task of its own.
 */
function waitingOf(call: ToolCall, spec: ToolSpec | undefined) {
  const batch = spec === undefined || isElsewhere(spec) ? undefined : call.batch;
  const approvalId = call[FACTS].approval === undefined ? call.approvalId : undefined; // otherwise it is for this call
  return defined({ approvalId, batch, ...(batch !== undefined && { park: true }) });
}

async function delegate({ profile, query, tool, arguments: given = {} }: DelegateInput, call: ToolCall) {
  if ((query === undefined) === (tool === undefined))
    return failed(toolError('invalid_input', 'delegate: pass either query, or tool with its arguments.'));
  const opened = await call.delegate(profile);
  if (!opened.ok) return failed(opened.error);
  if (tool !== undefined) return opened.chest.call(tool, given, waitingOf(call, opened.chest.get(tool)));
  const { hits, ...answer } = toSearchAnswer(await opened.chest.search(query ?? '', { limit: MOST_FOUND }));
  return {
    tools: hits.map(({ name, description, spec }) => defined({ name, description, inputSchema: spec.input })),
    ...answer,
  };
}
