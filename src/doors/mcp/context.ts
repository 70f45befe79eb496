import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/caller.ts';
import type { Crib } from '../../crib/crib.ts';
import type { AskedCall } from './asked-call.ts';
import type { Watch } from './cancellations.ts';
import type { Listings } from './listings.ts';

/** The package that speaks the protocol; loaded by its first use. */
export type Sdk = typeof import('@modelcontextprotocol/server');

/** What all requests at a door share. */
export interface Gateway {
  readonly crib: Crib;
  readonly sdk: Sdk;
  readonly listings: Listings;
  readonly version: string;
  warn(message: string): void;
}

/** Who is served, and how. */
export interface RequestContext {
  readonly caller: Caller;
  /** The name in the address; the default profile if absent. */
  readonly profile: string | undefined;
  /** True if the list of another caller would be the same. */
  readonly isPublic: boolean;
  readonly instructions?: string;
  /** Takes the tools as text, where whoever sends the answer puts them in. */
  takeTools?(text: string): void;
  /** A signal that ends the call, where that can come from elsewhere than from its own request. */
  watch?(asked: AskedCall): Watch;
  /** What becomes of the call, where it was begun before the protocol's package was asked to answer. */
  readonly outcome?: Promise<CallToolResult>;
}

/** What a client asked for cannot be: the error of the protocol for that. */
export function invalidParams({ sdk }: Gateway, message: string, data?: unknown): Error {
  return new sdk.ProtocolError(sdk.INVALID_PARAMS, message, data);
}
