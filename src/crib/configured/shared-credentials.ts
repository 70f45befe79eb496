import { type SecretText, secretsIn } from '../../system/secrets/secret-template.ts';
import type { Config } from '../config/config.ts';
import type { McpServer, McpSourceConfig } from '../config/source-config.ts';

/** Servers that are told one credential for everybody, over a connection that everybody shares: whoever calls acts as its owner. */
export function findSharedCredentials({ sources, access }: Pick<Config, 'sources' | 'access'>): readonly string[] {
  return Object.entries(sources).flatMap(([name, source]) => {
    if (!('mcp' in source) || !isShared(source) || !hasCredential(source.mcp)) return [];
    // Who says so, and is the only caller there is, means it.
    if (source.share !== undefined && access === undefined) return [];
    return [
      `Source "${name}" carries a credential and callers share its connection and state; say who may, with share: caller, conversation, profile or all.`,
    ];
  });
}

function isShared({ share = 'all' }: McpSourceConfig): boolean {
  return share === 'all' || share === 'profile';
}

const CREDENTIAL_HEADER = /^(authorization|proxy-authorization|cookie|.*(api-?key|token|secret).*)$/i;

function hasCredential(server: McpServer): boolean {
  if ('command' in server) return Object.values(server.env ?? {}).some(isSecret);
  const { url, headers = {}, auth } = server;
  return (
    auth !== undefined ||
    isSecret(url) ||
    Object.entries(headers).some(([name, value]) => isSecret(value) || CREDENTIAL_HEADER.test(name))
  );
}

function isSecret(text: SecretText): boolean {
  return secretsIn(text).length > 0;
}
