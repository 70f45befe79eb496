import { laterClock, systemClock } from '../runtime/clock.ts';
import { createOperatorToken } from '../runtime/identity/operator-token.ts';
import type { Crib } from './crib.ts';
import type { Engine } from './engine.ts';
import type { Equipment } from './extension-ports.ts';
import { createIdentify, type IdentifyOptions } from './identify.ts';
import { createKeys } from './keys.ts';

/** The members of a crib that say who somebody is. `token` is the operator's, where the environment names one. */
export function createIdentity(
  { access, profiles, warn }: Engine,
  { store, stateFolder, hide }: Equipment,
  token: string | undefined,
): Pick<Crib, 'identify' | 'keys' | 'operatorToken'> {
  const operatorToken = createOperatorToken(token, {
    folder: stateFolder,
    hide: (value) => hide('operator token', value),
  });
  const clocks = { steady: systemClock, calendar: laterClock };
  const options: IdentifyOptions = { access, profiles, warn, operatorToken, keys: store?.keys, ...clocks };
  return {
    identify: createIdentify(options),
    keys: createKeys(store?.keys, options),
    operatorToken: operatorToken.get,
  };
}
