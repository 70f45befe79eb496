import { createHmac } from 'node:crypto';
import { ToolcribError } from '../../core/tool-error.ts';
import { createSearch } from './secret-search.ts';
import { isBoundTo } from './secret-template.ts';

/** Where a secret is about to go: to a host, or into a child's environment. */
export type SecretUse = { readonly host: string } | { readonly child: true };

let contentOf: (secret: Secret) => { readonly value: string; readonly hosts: readonly string[] };

/** A secret that was looked up: printed, serialised, inspected, cloned or put into a text it says only `[secret NAME]`. */
export class Secret {
  readonly #name: string;
  readonly #value: string;
  readonly #hosts: readonly string[];
  // Only this file reaches the value; private fields do not survive a spread or a structured clone.
  static {
    contentOf = (secret) => ({ value: secret.#value, hosts: secret.#hosts });
  }
  constructor(name: string, value: string, hosts: readonly string[] = []) {
    this.#name = name;
    this.#value = value;
    this.#hosts = Object.freeze([...hosts]);
    Object.freeze(this);
  }
  get name(): string {
    return this.#name;
  }
  toString(): string {
    return `[secret ${this.#name}]`;
  }
  toJSON(): string {
    return this.toString();
  }
  [Symbol.toPrimitive](): string {
    return this.toString();
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }
}

/** The value, for one use; a host that the secret is not bound to never gets it. */
export function reveal(secret: Secret, use: SecretUse): string {
  const { value, hosts } = contentOf(secret);
  if ('child' in use && use.child === true) return value;
  if ('host' in use && hosts.some((bound) => isBoundTo(bound, use.host))) return value;
  const host = 'host' in use ? JSON.stringify(use.host) : 'nobody in particular';
  const bound =
    hosts.length === 0 ? 'it is bound to no host; name them as hosts' : `it is bound to ${hosts.join(', ')}`;
  throw new ToolcribError('secret_refused', `The secret "${secret.name}" may not be sent to ${host}: ${bound}.`);
}

/** The HMAC-SHA256 of a text under the secret, as hex: it proves who signed and tells nothing of the value. */
export function signWith(secret: Secret, text: string): string {
  return createHmac('sha256', contentOf(secret).value).update(text).digest('hex');
}

/** True if both hold the same value. */
export function isSameSecret(a: Secret, b: Secret): boolean {
  return contentOf(a).value === contentOf(b).value;
}

/** Takes the values of these secrets out of a text; only the text comes back, never a value. */
export function hiding(secrets: readonly Secret[]): (text: string) => string {
  return createSearch(secrets.map((secret) => ({ name: secret.name, value: contentOf(secret).value })));
}
