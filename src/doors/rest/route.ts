import type { JsonSchema, MaybePromise } from '../../core/json.ts';
import type { Identity } from '../../core/ports/identity.ts';
import type { Crib } from '../../crib/crib.ts';
import type { Answer } from './answers.ts';
import type { Identify } from './authenticate.ts';
import type { EventFeed } from './event-feed.ts';
import type { PageSessions } from './page-sessions.ts';

/** Who may ask: everybody; everybody `identify` lets in; only who came with a credential; only an operator. */
export type Who = 'anyone' | 'caller' | 'credential' | 'operator';

/** What an answer of a route looks like. */
export interface Answered {
  readonly says: string;
  /** The shape of its JSON; absent where it is no JSON. */
  readonly schema?: JsonSchema;
  readonly type?: string;
}

/** One thing that can be asked: what is checked, what is documented and what is done stand together. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `{name}` for a part that varies. */
  readonly path: string;
  /** The group it is documented under. */
  readonly group: string;
  readonly says: string;
  readonly who: Who;
  /** The parameters it takes by name; `?` marks those that may be absent. */
  readonly query?: Readonly<Record<string, JsonSchema>>;
  readonly body?: JsonSchema;
  /** Its answers by status; those of refusals are the same everywhere. */
  readonly answers: Readonly<Record<number, Answered>>;
  run(asked: Asked): MaybePromise<Answer | Response>;
}

/** Who somebody turned out to be. */
export type Asker = Extract<Identity, { readonly ok: true }>;

/** A request that was let in, with what it carries checked by the schemas of its route. */
export interface Asked {
  readonly crib: Crib;
  /** Nobody in particular where everybody may ask. */
  readonly asker: Asker;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly request: Request;
  readonly feed: EventFeed;
  readonly sessions: PageSessions;
  /** Who sends a request, where the route itself has to know. */
  readonly identify: Identify;
}
