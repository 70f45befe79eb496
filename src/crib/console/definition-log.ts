import type { JsonObject } from '../../core/json.ts';
import type { CribContext } from '../../core/ports/crib-context.ts';
import {
  MOST_DEFINITIONS_IN_ALL,
  type SeenDefinition,
  type StoredDefinitions,
} from '../../core/ports/stored-definitions.ts';
import { defined } from '../../core/read-options.ts';
import { redactData } from '../../core/redact-result.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { kindOf, type ToolSpec } from '../../core/tool-spec.ts';
import { grant } from '../../identity/roles.ts';
import { definitionHash } from '../../specs/hashes.ts';
import { oneAtATime } from '../../system/clock.ts';
import type { Engine } from '../engine.ts';
import { type DefinitionChange, definitionChanges } from './definition-changes.ts';

/** A definition of a tool, and its changes against the one before it. */
interface DefinitionVersion extends Omit<SeenDefinition, 'tool'> {
  readonly isCurrent: boolean;
  readonly changes: readonly DefinitionChange[];
}

/** The profiles and keys that a change of a tool concerns. */
interface ToolReach {
  readonly profiles: readonly string[];
  readonly keys: readonly { readonly id: string; readonly name: string; readonly caller: string }[];
}

/** The definitions of tools as the crib saw them. */
export interface DefinitionLog {
  /** Records the definitions of all tools now and whenever they change. Returns a function that stops it. */
  watch(): () => void;
  /** The definitions of a tool, newest first; empty for a tool that was never seen. */
  of(tool: string): Promise<readonly DefinitionVersion[]>;
  reach(tool: string): Promise<ToolReach>;
}

/** Tools beyond this number are recorded only when they are looked at, because reading all of a large file would fill the memory. */
const MOST_TOOLS = 20_000;
/** Definitions are touched at most this often. */
const TOUCH_EVERY_MS = 3_600_000;
/** Tools that are hashed before other work gets a turn. */
const SLICE = 200;

/** Creates the log. Without a store it is empty. */
export function createDefinitionLog(engine: Engine, { store, redact }: CribContext): DefinitionLog {
  const { generation, warn } = engine;
  const stored = store?.definitions;
  const toNew = (spec: ToolSpec) => {
    const definition: JsonObject = redactData(JSON.parse(JSON.stringify(definitionOf(spec))), redact);
    return { tool: spec.name, hash: definitionHash(spec), source: spec.source, definition };
  };
  let known: Map<string, number> | undefined;
  const look = oneAtATime(async () => {
    if (stored === undefined) return;
    known ??= await readKnown(stored);
    const added: ToolSpec[] = [];
    const touched: { tool: string; hash: string }[] = [];
    const specs = generation().catalog.specs.slice(0, MOST_TOOLS);
    for (const [index, spec] of specs.entries()) {
      if (index % SLICE === SLICE - 1) await new Promise((resolve) => setImmediate(resolve));
      const hash = definitionHash(spec);
      const lastSeen = known.get(`${spec.name} ${hash}`);
      if (lastSeen === undefined) added.push(spec);
      else if (Date.now() - lastSeen > TOUCH_EVERY_MS) touched.push({ tool: spec.name, hash });
    }
    for (let start = 0; start < added.length; start += SLICE)
      await stored.add(added.slice(start, start + SLICE).map(toNew));
    if (touched.length > 0) await stored.touch(touched);
    for (const spec of added) known.set(`${spec.name} ${definitionHash(spec)}`, Date.now());
    for (const { tool, hash } of touched) known.set(`${tool} ${hash}`, Date.now());
    if (known.size > MOST_DEFINITIONS_IN_ALL + MOST_TOOLS) known = undefined; // the store has removed old ones
  });
  const lookQuietly = (): void =>
    void look().catch((cause: unknown) => {
      // A store that is not available is tried again with the next change.
      if (!(cause instanceof ToolcribError)) warn(`Recording the definitions of tools failed: ${messageOf(cause)}`);
    });
  return {
    watch() {
      if (stored === undefined) return () => {};
      void engine.allListed().then(lookQuietly);
      return engine.onNext(lookQuietly);
    },
    async of(tool) {
      if (stored === undefined) return [];
      const spec = generation().catalog.get(tool);
      if (spec !== undefined) await stored.add([toNew(spec)]);
      return toVersions(await stored.of(tool), spec === undefined ? undefined : definitionHash(spec));
    },
    reach: (tool) => reachOf(engine, store?.keys, tool),
  };
}

async function readKnown(stored: StoredDefinitions): Promise<Map<string, number>> {
  return new Map((await stored.seen()).map(({ tool, hash, lastSeen }) => [`${tool} ${hash}`, lastSeen]));
}

/** The parts of a spec that people and models see. How the tool runs is not one of them. */
function definitionOf(spec: ToolSpec): object {
  const { title, description, input, output, effects, category, tags, version, instructions, requires } = spec;
  return defined({
    title,
    description,
    inputSchema: input,
    outputSchema: output,
    effects,
    category,
    tags,
    version,
    instructions,
    requires,
    kind: kindOf(spec),
  });
}

function toVersions(seen: readonly SeenDefinition[], current: string | undefined): readonly DefinitionVersion[] {
  const ordered = seen.toSorted((a, b) => Number(b.hash === current) - Number(a.hash === current));
  return ordered.map(({ tool: _tool, ...version }, index) => {
    const older = ordered[index + 1];
    const changes = older === undefined ? [] : definitionChanges(older.definition, version.definition);
    return { ...version, isCurrent: version.hash === current, changes };
  });
}

/** The profiles that show a tool, and the active keys that open one of them. */
async function reachOf(
  { generation, profiles, access }: Engine,
  keys: NonNullable<CribContext['store']>['keys'] | undefined,
  tool: string,
): Promise<ToolReach> {
  const set = profiles();
  const caller = { id: 'operator', operator: true };
  const shown = [...set.byName.values()].filter((profile) => generation().viewFor(profile, caller).has(tool));
  const names = shown.map(({ name }) => name);
  const config = access();
  if (config?.keys !== true || keys === undefined) return { profiles: names, keys: [] };
  const now = Date.now();
  const active = (await keys.list()).filter(
    ({ revokedAt, expiresAt }) => revokedAt === undefined && (expiresAt === undefined || expiresAt > now),
  );
  const opening = active.filter((key) => {
    const opened = grant({ ...key, id: key.caller, credential: { kind: 'key', id: key.id } }, config, set);
    return opened.operator || opened.profiles.some((name) => names.includes(name));
  });
  return { profiles: names, keys: opening.map(({ id, name, caller: of }) => ({ id, name, caller: of })) };
}
