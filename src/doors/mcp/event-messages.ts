type Message = Readonly<Record<string, unknown>>;

/** The messages of an answer over HTTP, as they come: one as JSON, or several as events. */
export async function* messagesIn(response: Response): AsyncGenerator<Message> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/json'))
    yield* [(await response.json()) as Message].flat(); // judged by whoever takes it
  else if (type.startsWith('text/event-stream') && response.body !== null) yield* eventsIn(response.body);
  else await response.body?.cancel(); // accepted, and nothing to say
}

async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const events = rest.split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) yield* dataOf(event);
  }
}

/** What is sent to keep the connection alive has no data. */
function* dataOf(event: string): Generator<Message> {
  const data = event.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []));
  if (data.length > 0) yield JSON.parse(data.join('\n'));
}
