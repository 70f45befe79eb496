import { isRecord } from '../../../core/json.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import type { ApiSettings, Operation, Reading } from './reading.ts';

/** Where an operation is called: the owner's address, else the first server that is said nearest to it. */
export function baseUrlOf({ fields, shared }: Operation, reading: Reading): string {
  const { settings, description, url } = reading;
  if (settings.baseUrl !== undefined) return toBase(new URL(settings.baseUrl));
  const lists = [fields.servers, shared.servers, description.root.servers];
  const [server] = lists.filter(Array.isArray).find((list) => list.length > 0) ?? [];
  const written =
    isRecord(server) && typeof server.url === 'string' ? fillVariables(server.url, server.variables) : '/';
  const found = URL.parse(written, url?.href);
  if (found === null) {
    throw new ToolcribError(
      'invalid_description',
      `its server "${written.slice(0, 120)}" is no address: write baseUrl`,
    );
  }
  if (!/^https?:$/.test(found.protocol) || found.username !== '' || found.password !== '') {
    throw new ToolcribError('invalid_description', 'its server is no plain address of http or https: write baseUrl');
  }
  if (settings.staysOnHost && found.host !== url?.host) {
    const why = 'and what is sent there (headers, auth) is bound to no host';
    throw new ToolcribError(
      'invalid_description',
      `its server is ${found.host}, which the description names, ${why}: write baseUrl, or \${secret:NAME} with hosts`,
    );
  }
  if (isPlainOfSafe(found, url) && sendsSomething(settings)) {
    const why = 'and what is sent there (headers, auth) could be read on the way';
    throw new ToolcribError(
      'invalid_description',
      `its server is ${found.origin}, though the description came over https, ${why}: write baseUrl`,
    );
  }
  return toBase(found);
}

/** A description that came over https does not choose plain text; neither for a secret of that very host. */
function isPlainOfSafe({ protocol }: URL, fetchedFrom: URL | undefined): boolean {
  return fetchedFrom?.protocol === 'https:' && protocol === 'http:';
}

function sendsSomething({ headers, auth }: ApiSettings): boolean {
  return Object.keys(headers).length + Object.keys(auth).length > 0;
}

function fillVariables(url: string, variables: unknown): string {
  return url.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = isRecord(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = isRecord(variable) ? variable.default : undefined;
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    throw new ToolcribError(
      'invalid_description',
      `its server has a variable "${name}" without a default: write baseUrl`,
    );
  });
}

/** Braces and the like are encoded in it, so that nothing in it can look like an argument or a secret. */
function toBase({ origin, pathname }: URL): string {
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}
