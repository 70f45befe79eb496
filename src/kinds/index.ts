import type { Kind } from '../config/records.ts';
import type { KindTraits, TraitsOf } from '../core/ports/extension-ports.ts';
import { functionKind } from './function/function.ts';
import { httpKind } from './http/http-kind.ts';
import { mcpKind } from './mcp/mcp-kind.ts';
import { pythonKind } from './python/python-kind.ts';
import { shellKind } from './shell/shell-kind.ts';

/** Kinds of the contract that come later. */
const scriptKind: Kind<'script'> = { kind: 'script', pathFields: ['file'], runsOwnCode: true, failsWith: 'tool' };
const agentKind: Kind<'agent'> = { kind: 'agent', pathFields: [], failsWith: 'tool' };

/** The kinds of tools. A new one is a folder beside these, and a line here. */
export const KINDS = [functionKind, mcpKind, httpKind, pythonKind, shellKind, scriptKind, agentKind] as const;

const TRAITS = new Map<string, KindTraits>(KINDS.map((kind) => [kind.kind, kind]));
const NO_TRAITS: KindTraits = {};

/** What other rooms must know of a kind; nothing of one that is not ours. */
export const traitsOf: TraitsOf = (kind) => TRAITS.get(kind) ?? NO_TRAITS;
