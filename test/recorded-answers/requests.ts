/** One request over HTTP. */
export interface Asked {
  readonly method?: string;
  readonly path: string;
  /** Sent as JSON; text as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Heard {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the recording says what it is
  readonly json: any;
  /** Request and answer as one text, not yet masked. */
  readonly recording: string;
}

/** Headers that are part of what the server promises. */
const PROMISED = [
  'content-type',
  'www-authenticate',
  'retry-after',
  'cache-control',
  'location',
  'allow',
  'mcp-protocol-version',
];

/** Sends a request and writes down what was asked and what came back. */
export async function ask(url: string, { method, path, body, headers = {} }: Asked): Promise<Heard> {
  const verb = method ?? (body === undefined ? 'GET' : 'POST');
  const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${url}${path}`, {
    method: verb,
    headers: { ...(sent !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(sent !== undefined && { body: sent }),
    redirect: 'manual',
  });
  const text = await response.text();
  const json = readJson(text);
  const said = PROMISED.flatMap((name) =>
    response.headers.has(name) ? [`${name}: ${response.headers.get(name)}`] : [],
  );
  const lines = [`${verb} ${path}`, ...(sent === undefined ? [] : [sent]), '', String(response.status), ...said, ''];
  return { status: response.status, json, recording: `${[...lines, toText(json ?? text)].join('\n')}\n` };
}

/** JSON as a person reads it; the lines of an event stream with their data unfolded. */
function toText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2);
  return value.replaceAll(
    /^data: (\{.*\})$/gm,
    (_, data: string) => `data: ${JSON.stringify(JSON.parse(data), null, 2)}`,
  );
}

// biome-ignore lint/suspicious/noExplicitAny: the recording says what it is
function readJson(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
