import { hash } from 'node:crypto';
import type { McpServer } from '../../config/types/sources.ts';
import { canonicalJson } from '../../core/json.ts';
import type { KeptListPort } from '../../specs/kept-list.ts';
import type { SecretText } from '../../system/secrets/secret-template.ts';
import type { LazyStore } from './lazy-store.ts';

/** Where the last list of a source is kept. One that came from another address is not its last. The address itself is not kept: it may hold a credential. */
export function keptList(name: string, address: SecretText | McpServer, { lists }: LazyStore): KeptListPort {
  const from = () => hash('sha256', canonicalJson(address)); // when it is needed: few sources are
  return {
    async get() {
      const list = await lists.get(name);
      return list?.about?.from === from() ? list : undefined;
    },
    put: (list) => lists.put(name, { ...list, about: { ...list.about, from: from() } }),
  };
}
