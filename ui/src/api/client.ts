/** An error that the server answered: its code and its sentence, which the page shows as it is. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly issues: readonly { readonly path: string; readonly message: string }[];

  constructor(status: number, error: { readonly code?: string; readonly message?: string; readonly issues?: [] }) {
    super(error.message ?? `The server answered with status ${status}.`);
    this.status = status;
    this.code = error.code ?? 'internal';
    this.issues = error.issues ?? [];
  }
}

/** A request to the server. */
interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Asks for a sign-in. Resolves to true when the request can be sent again, to false if no session has ended. */
type SignInAgain = () => Promise<boolean>;

const signIns = new Set<SignInAgain>();

/** Calls the listener when the server refuses a request for want of a session. Returns a function that stops listening. */
export function onSessionEnded(listener: SignInAgain): () => void {
  signIns.add(listener);
  return () => signIns.delete(listener);
}

/** Tells every listener that a session is missing. True when a sign-in has followed. */
export async function askForSignIn(): Promise<boolean> {
  const answers = await Promise.all([...signIns].map((listener) => listener()));
  return answers.includes(true);
}

/** The header that the session cookie counts with: no form and no link can send it. */
export const OWN_HEADER = { 'x-toolcrib-console': '1' } as const;

/**
 * Sends a request and returns the JSON of its answer. If the session has ended, the request waits for the sign-in and is
 * sent again: the server refused it before anything ran.
 */
export async function api<T>(path: string, request: ApiRequest = {}): Promise<T> {
  const first = await send(path, request);
  const isRefused = first.response.status === 401 && !path.startsWith('/api/session');
  const { response, answer } = isRefused && (await askForSignIn()) ? await send(path, request) : first;
  if (response.ok) return answer as T; // the generated types say what each route answers
  throw new ApiError(response.status, (answer as { readonly error?: object } | undefined)?.error ?? {}); // refusals have one shape
}

async function send(path: string, { method = 'GET', query, body, signal }: ApiRequest) {
  const response = await fetch(withQuery(path, query), {
    method,
    headers: { ...OWN_HEADER, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  return { response, answer: readJson(text) };
}

function readJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined; // a proxy in between answered
  }
}

function withQuery(path: string, query: ApiRequest['query'] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
