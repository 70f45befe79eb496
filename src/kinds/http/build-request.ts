import type { ToolCall } from '../../core/tool-call.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';
import { fillOrigin, fillPath } from './address.ts';
import type { Credentials } from './authorize.ts';
import { fillCookies, fillHeaders } from './fill-headers.ts';
import { BadArgument, type Filling } from './fill-text.ts';
import { fillParameter } from './parameters.ts';
import type { RequestPlan } from './request-plan.ts';

/** A request with everything but the credentials. */
export interface BuiltRequest {
  /** Scheme, host and port. */
  readonly origin: URL;
  readonly path: string;
  readonly query: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string | Uint8Array | undefined;
}

const NO_SECRETS: ReadonlyMap<string, string> = new Map();

/** Where a call goes. */
export function originOf(plan: RequestPlan, { input, spec }: ToolCall): URL {
  return new URL(fillOrigin(plan.address.origin, { input, secrets: NO_SECRETS }, spec));
}

/** The secrets of a run, for the host that the call goes to and no other. */
export async function findSecrets(
  { secrets: names }: RequestPlan,
  secrets: Secrets,
  host: string,
): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return NO_SECRETS;
  const fill = async (secret: string) =>
    [secret, await secrets.fill({ secretTemplate: [{ secret }] }, { host })] as const;
  return new Map(await Promise.all(names.map(fill)));
}

const ACCEPT = 'application/json, text/*;q=0.9, */*;q=0.8';

/** Fills a plan with the arguments of a call. */
export function buildRequest(
  plan: RequestPlan,
  call: ToolCall,
  { origin, secrets }: { readonly origin: URL; readonly secrets: ReadonlyMap<string, string> },
): BuiltRequest {
  const filling: Filling = { input: call.input, secrets };
  const body = plan.fillBody(filling);
  const { traceparent } = call;
  return {
    origin,
    path: fillPath(plan.address.segments, filling),
    query: [...plan.address.query, ...plan.query].flatMap((parameter) => fillParameter(parameter, filling)),
    headers: {
      accept: ACCEPT,
      ...(traceparent !== undefined && { traceparent }),
      ...(body !== undefined && { 'content-type': body.contentType }),
      ...fillHeaders(plan.headers, filling),
    },
    cookies: fillCookies(plan.cookies, filling),
    body: body?.bytes,
  };
}

/** The address of a request with its credentials. It has never left the host that its run names. */
export function addressOf({ origin, path, query }: BuiltRequest, credentials: Credentials): URL {
  const pairs = [...query, ...credentials.query].join('&');
  const url = new URL(`${origin.href.slice(0, -1)}${path}${pairs === '' ? '' : `?${pairs}`}`);
  if (url.origin !== origin.origin) throw new BadArgument('', 'would send the call elsewhere');
  return url;
}

/** The headers of a request with its credentials. */
export function headersOf(
  { headers, cookies }: BuiltRequest,
  credentials: Credentials,
): Readonly<Record<string, string>> {
  const all = [...(headers.cookie === undefined ? [] : [headers.cookie]), ...cookies, ...credentials.cookies];
  return { ...headers, ...credentials.headers, ...(all.length > 0 && { cookie: all.join('; ') }) };
}
