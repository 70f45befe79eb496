import { type CribContext, pathOf } from '../core/ports/crib-context.ts';
import { createIdentify, type IdentifyOptions } from '../identity/identify.ts';
import { createKeys } from '../identity/keys.ts';
import { createOperatorToken, type OperatorSetting } from '../identity/operator-token.ts';
import { laterClock, systemClock } from '../system/clock.ts';
import type { Crib } from './crib.ts';
import type { Engine } from './engine.ts';

/** The members of a crib that turn a credential into a caller. `setting` is what the environment says about the operator token. */
export function createIdentity(
  { access, profiles, warn }: Engine,
  { store, privateFolder, hide }: CribContext,
  setting: OperatorSetting | undefined,
): Pick<Crib, 'identify' | 'keys' | 'operatorToken' | 'operatorTokenFile' | 'stateWarnings'> {
  const operatorToken = createOperatorToken(setting, {
    folder: () => pathOf(privateFolder(), warn),
    hide: (value) => hide('operator token', value),
  });
  const clocks = { steady: systemClock, calendar: laterClock };
  const options: IdentifyOptions = { access, profiles, warn, operatorToken, keys: store?.keys, ...clocks };
  return {
    identify: createIdentify(options),
    keys: createKeys(store?.keys, options),
    operatorToken: operatorToken.get,
    operatorTokenFile: operatorToken.file,
    stateWarnings: () => privateFolder().warnings,
  };
}
