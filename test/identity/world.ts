import { onTestFinished } from 'vitest';
import type { AccessConfig } from '../../src/config/types/config.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { readProfiles } from '../../src/crib/crib-options.ts';
import { createKeys } from '../../src/identity/api-keys.ts';
import { createIdentify, type IdentifyOptions } from '../../src/identity/identify.ts';
import { createOperatorToken } from '../../src/identity/operator-token.ts';
import { type Crib, type CribOptions, createCrib } from '../../src/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import { folderWith } from '../crib/workshop.ts';

/** The one sentence that answers every credential that is not accepted. */
export const REFUSED = {
  ok: false,
  error: {
    code: 'unauthenticated',
    message: 'The credential is not accepted: it is unknown, expired, revoked or issued for another audience.',
    retryable: false,
  },
};

/** What answers where it cannot be checked. */
export const UNAVAILABLE = {
  ok: false,
  error: {
    code: 'unavailable',
    message: 'The credential cannot be checked at the moment. Try again later.',
    retryable: true,
  },
};

export const ROLES = {
  dev: { profiles: ['assistant'] },
  ops: { profiles: ['op*'] },
  admin: { profiles: ['*'], operator: true },
} satisfies AccessConfig['roles'];

/** Profiles and tools that the tests speak of. */
const PROFILES = 'profiles: { assistant: {}, operations: {}, opera: {} }\ndefaultProfile: assistant\n';

/** A crib whose configuration says this under `access`, in a folder of its own; closed after the test. */
export async function cribWith(access: AccessConfig | undefined, options: CribOptions = {}): Promise<Crib> {
  const text = access === undefined ? '' : `access: ${JSON.stringify(access)}\n`;
  const configFile = folderWith({ 'toolcrib.yaml': `${PROFILES}${text}` });
  const crib = await createCrib({ store: { url: 'memory:' }, configFile, watch: false, ...options });
  onTestFinished(() => crib.close());
  return crib;
}

/** The same without the rest of a crib, with a time of its own. */
export async function deskWith(access: AccessConfig | undefined, at = Date.parse('2030-01-02T12:00:00Z')) {
  const time = { now: at };
  const store = await openStore({ url: 'memory:', env: {}, now: () => time.now });
  onTestFinished(() => store.close());
  const warnings: string[] = [];
  const clock = { now: () => time.now };
  const options: IdentifyOptions = {
    access: () => access,
    profiles: () => readProfiles({ assistant: {}, operations: {}, opera: {} }, 'assistant'),
    keys: store.keys,
    operatorToken: createOperatorToken(undefined, { folder: () => undefined, hide: () => {} }),
    steady: clock,
    calendar: clock,
    warn: (message) => void warnings.push(message),
  };
  return { time, store, warnings, ...membersOf(options, store) };
}

function membersOf(options: IdentifyOptions, { keys }: Store) {
  return { identify: createIdentify(options), identifyWith: createIdentify, options, keys: createKeys(keys, options) };
}
