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

const sessionEnded = new Set<() => void>();

/** Calls the listener when the server refuses a request for want of a session. Returns a function that stops listening. */
export function onSessionEnded(listener: () => void): () => void {
  sessionEnded.add(listener);
  return () => sessionEnded.delete(listener);
}

/** Sends a request and returns the JSON of its answer. The session cookie counts only with the header that forms cannot send. */
export async function api<T>(path: string, { method = 'GET', query, body, signal }: ApiRequest = {}): Promise<T> {
  const response = await fetch(withQuery(path, query), {
    method,
    headers: { 'x-toolcrib-console': '1', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const answer: unknown = response.status === 204 ? undefined : await response.json();
  if (response.ok) return answer as T; // the generated types say what each route answers
  if (response.status === 401) for (const listener of sessionEnded) listener();
  throw new ApiError(response.status, (answer as { readonly error?: object } | undefined)?.error ?? {}); // refusals have one shape
}

function withQuery(path: string, query: ApiRequest['query'] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
