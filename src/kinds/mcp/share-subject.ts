import type { ToolCall } from '../../core/tool-call.ts';
import type { Share } from './mcp-servers.ts';

/** The subject of what everybody shares. */
export const MAIN = '';

/** Whose connection a call uses. Conversations are named by callers, so two callers never share one by its name. */
export function shareSubject(share: Share, { profile, caller, conversation }: ToolCall): string {
  switch (share) {
    case 'all':
      return MAIN;
    case 'profile':
      return JSON.stringify(['profile', profile]);
    case 'caller':
      return JSON.stringify(['caller', caller.id ?? null]);
    case 'conversation':
      return JSON.stringify(['conversation', caller.id ?? null, conversation ?? null]);
  }
}
