import { inputRequired, Server, type ServerContext } from '@modelcontextprotocol/server';

/** What all instances of one server share. */
export interface WorkbenchState {
  readonly tools: Tool[];
  cancelled: number;
  count: number;
  /** Tells that the list of tools is another now. */
  announce(): void;
}

interface Tool {
  readonly name: string;
  readonly [field: string]: unknown;
}

const object = (properties: object = {}, required: readonly string[] = []) => ({
  type: 'object' as const,
  properties,
  required: [...required],
});

export function createState(announce: () => void = () => {}): WorkbenchState {
  return { tools: [...TOOLS], cancelled: 0, count: 0, announce };
}

const ICON = { src: 'https://example.com/icon.png', mimeType: 'image/png' };

const TOOLS: readonly Tool[] = [
  {
    name: 'echo',
    title: 'Say it again',
    description: 'Answers what it is told',
    inputSchema: object({ text: { type: 'string' } }, ['text']),
    annotations: { readOnlyHint: true, openWorldHint: false },
    icons: [ICON],
    _meta: { 'example.com/colour': 'red' },
  },
  {
    name: 'everything',
    inputSchema: object(),
    outputSchema: object({ sum: { type: 'number' } }, ['sum']),
    annotations: { title: 'All there is', destructiveHint: true, idempotentHint: false },
  },
  { name: 'fail', inputSchema: object() },
  { name: 'refuse', inputSchema: object({ code: { type: 'integer' } }) },
  { name: 'steps', inputSchema: object({ count: { type: 'integer' } }) },
  { name: 'wait', inputSchema: object() },
  { name: 'cancelled', inputSchema: object() },
  { name: 'meta', inputSchema: object() },
  { name: 'big', inputSchema: object({ bytes: { type: 'integer' } }) },
  { name: 'length', inputSchema: object({ text: { type: 'string' } }) },
  { name: 'crash', inputSchema: object() },
  { name: 'pid', inputSchema: object() },
  { name: 'count', inputSchema: object() },
  { name: 'grow', inputSchema: object() },
  { name: 'ask', inputSchema: object() },
  { name: 'again', inputSchema: object() },
  { name: 'list', inputSchema: object(), outputSchema: { type: 'array', items: { type: 'number' } } },
  { name: 'routed', inputSchema: object({ region: { type: 'string', 'x-mcp-header': 'Region' } }) },
];

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

interface Call {
  readonly input: Readonly<Record<string, unknown>>;
  readonly context: ServerContext;
  readonly state: WorkbenchState;
  readonly meta: unknown;
}

const RUNS: Readonly<Record<string, (call: Call) => unknown>> = {
  echo: ({ input }) => text(String(input.text)),
  everything: () => ({
    content: [
      {
        type: 'text',
        text: 'words',
        annotations: { audience: ['user'], priority: 0.5 },
        _meta: { 'example.com/a': 1 },
      },
      { type: 'image', data: 'aW1hZ2U=', mimeType: 'image/png' },
      { type: 'audio', data: 'YXVkaW8=', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'file:///a', name: 'a', title: 'A', size: 3 },
      { type: 'resource', resource: { uri: 'file:///b', mimeType: 'text/plain', text: 'b' } },
      { type: 'resource', resource: { uri: 'file:///c', blob: 'Yw==' } },
    ],
    structuredContent: { sum: 3 },
    _meta: { 'example.com/trace': 'kept', 'toolcrib/result': 'forged' },
  }),
  fail: () => ({
    content: [
      { type: 'text', text: 'the paper is out' },
      { type: 'image', data: 'aW1hZ2U=', mimeType: 'image/png' },
    ],
    structuredContent: { tray: 2 },
    isError: true,
  }),
  refuse: ({ input }) => {
    throw Object.assign(new Error('not like this\n    at secret (/home/somebody/server.js:1:1)'), { code: input.code });
  },
  steps: async ({ input, context }) => {
    const progressToken = (context.mcpReq._meta as { progressToken?: number } | undefined)?.progressToken;
    for (let progress = 1; progress <= Number(input.count); progress++) {
      if (progressToken !== undefined)
        await context.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: Number(input.count), message: `step ${progress}` },
        });
    }
    return text('done');
  },
  wait: ({ context, state }) =>
    new Promise((resolve) => {
      context.mcpReq.signal.addEventListener('abort', () => {
        state.cancelled++;
        resolve(text('called off'));
      });
    }),
  cancelled: ({ state }) => ({ content: [], structuredContent: { count: state.cancelled } }),
  meta: ({ meta }) => ({ content: [], structuredContent: meta ?? {} }),
  big: ({ input }) => text('x'.repeat(Number(input.bytes))),
  length: ({ input }) => text(String(String(input.text).length)),
  crash: () => process.kill(process.pid, 'SIGKILL'),
  pid: () => ({ content: [], structuredContent: { pid: process.pid } }),
  count: ({ state }) => text(String(++state.count)),
  grow: ({ state }) => {
    state.tools.push({ name: `grown${state.tools.length}`, inputSchema: object() });
    state.announce();
    return text('grown');
  },
  ask: ({ context }) => {
    const answer = context.mcpReq.inputResponses?.name as { content?: { name?: string } } | undefined;
    if (answer !== undefined) return text(`Hello ${answer.content?.name}, ${context.mcpReq.requestState()}`);
    return inputRequired({
      inputRequests: {
        name: inputRequired.elicit({
          message: 'Who are you?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
        }),
      },
      requestState: 'asked once',
    });
  },
  again: ({ context }) =>
    context.mcpReq.requestState() === undefined ? inputRequired({ requestState: 'come back' }) : text('here you are'),
  list: () => ({ content: [], structuredContent: [1, 2, 3] }),
  routed: ({ context, input }) => text(`${input.region} ${headerOf(context, 'mcp-param-region')}`),
};

function headerOf(context: ServerContext, name: string): string {
  const { http } = context as { readonly http?: { readonly req?: { readonly headers?: Headers } } };
  return http?.req?.headers?.get(name) ?? 'none';
}

/** One instance of a server that has something of everything. */
export function createWorkbench(state: WorkbenchState): Server {
  const server = new Server(
    { name: 'workbench', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  const half = () => Math.ceil(state.tools.length / 2);
  server.setRequestHandler('tools/list', (request) => {
    const isSecond = request.params?.cursor === 'second';
    const tools = isSecond ? state.tools.slice(half()) : state.tools.slice(0, half());
    return { tools: tools as never, ...(!isSecond && { nextCursor: 'second' }) }; // it may list what it likes
  });
  server.setRequestHandler('tools/call', async (request, context) => {
    const { name, arguments: input = {} } = request.params;
    const run = RUNS[name];
    if (run === undefined) return text('a tool that grew') as never;
    return (await run({ input, context, state, meta: request.params._meta })) as never; // it may answer what it likes
  });
  return server;
}
