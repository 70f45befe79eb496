import type { KindTraits, TraitsOf } from '../core/ports/extension-ports.ts';
import { agentKind } from './agent/agent-kind.ts';
import { functionKind } from './function/function.ts';
import { httpKind } from './http/http-kind.ts';
import { mcpKind } from './mcp/mcp-kind.ts';
import { pythonKind } from './python/python-kind.ts';
import { scriptKind } from './script/script-kind.ts';
import { shellKind } from './shell/shell-kind.ts';

/** All kinds of tools. A new kind is a folder here and an entry in this list. */
export const KINDS = [functionKind, mcpKind, httpKind, pythonKind, shellKind, scriptKind, agentKind] as const;

const TRAITS = new Map<string, KindTraits>(KINDS.map((kind) => [kind.kind, kind]));
const NO_TRAITS: KindTraits = {};

/** The traits of a kind that other rooms need; empty for an unknown kind. */
export const traitsOf: TraitsOf = (kind) => TRAITS.get(kind) ?? NO_TRAITS;
