import { createHmac } from 'node:crypto';
import { ToolcribError } from '../../core/tool-error.ts';
import { createSearch } from './secret-search.ts';
import { isBoundTo } from './secret-template.ts';

/** The destination of a secret: a host, or a child's environment. */
export type SecretUse = { readonly host: string } | { readonly child: true };

let contentOf: (secret: Secret) => { readonly value: string; readonly hosts: readonly string[] };

/** A secret with its value. Printed, serialized, inspected, cloned or put into a text, it only shows `[secret NAME]`. */
export class Secret {
  readonly #name: string;
  readonly #value: string;
  readonly #hosts: readonly string[];
  // Only this file can read the value; private fields do not survive a spread or a structured clone.
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

/** Returns the value for one use. Throws if the secret is not bound to the host. */
export function reveal(secret: Secret, use: SecretUse): string {
  const { value, hosts } = contentOf(secret);
  if ('child' in use && use.child === true) return value;
  if ('host' in use && hosts.some((bound) => isBoundTo(bound, use.host))) return value;
  const host = 'host' in use ? JSON.stringify(use.host) : 'an unknown destination';
  const bound =
    hosts.length === 0
      ? 'it is not bound to a host; list the allowed hosts under hosts'
      : `it is bound to ${hosts.join(', ')}`;
  throw new ToolcribError('secret_refused', `The secret "${secret.name}" may not be sent to ${host}: ${bound}.`);
}

/** HMAC-SHA256 of a text with the secret, as hex. It proves who signed and does not reveal the value. */
export function signWith(secret: Secret, text: string): string {
  return createHmac('sha256', contentOf(secret).value).update(text).digest('hex');
}

/** True if both have the same value. */
export function isSameSecret(a: Secret, b: Secret): boolean {
  return contentOf(a).value === contentOf(b).value;
}

/** Creates a function that removes the values of these secrets from a text, without revealing them. */
export function hiding(secrets: readonly Secret[]): (text: string) => string {
  return createSearch(secrets.map((secret) => ({ name: secret.name, value: contentOf(secret).value })));
}
