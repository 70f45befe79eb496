import { afterAll, beforeAll, onTestFinished } from 'vitest';
import {
  type Caller,
  type Chest,
  type Crib,
  type CribOptions,
  createCrib,
  type ToolInput,
  type ToolResult,
} from '../../../src/index.ts';
import { type ModelServer, startModelServer } from './model-server.ts';

const text = { type: 'string' } as const;

/** The tools of most tests here. `helper` is the agent, which has the tools of the profile `library`. */
export const deskTools: readonly ToolInput[] = [
  {
    name: 'read_book',
    description: 'Read a book',
    input: { type: 'object', properties: { title: text }, required: ['title'], additionalProperties: false },
    effects: { readOnly: true },
    run: ({ title }: { readonly title: string }, call) => `${title}, read for ${call.caller.id} under ${call.profile}`,
  },
  { name: 'echo', description: 'Return the arguments', input: { type: 'object' }, run: (input) => input },
  {
    name: 'burn_book',
    description: 'Burn a book',
    input: { type: 'object' },
    effects: { destructive: true },
    run: () => 'burnt',
  },
  { name: 'greet', description: 'Greet a visitor', input: { type: 'object' }, run: () => 'hello' },
];

/** A tool that is an agent. */
export function agent(run: object, more: object = {}): ToolInput {
  return {
    name: 'helper',
    description: 'Answer a question with the books of the library',
    input: { type: 'object', properties: { question: text }, additionalProperties: false },
    run: { kind: 'agent', profile: 'library', model: 'local', ...run },
    ...more,
  } as ToolInput; // the run is data
}

export interface Desk {
  readonly server: ModelServer;
  readonly crib: Crib;
  readonly chest: Chest;
  ask(question?: string, options?: Parameters<Chest['call']>[2]): Promise<ToolResult>;
  close(): Promise<void>;
}

export interface DeskOptions {
  readonly run?: object;
  readonly more?: object;
  readonly settings?: object;
  readonly model?: object;
  readonly caller?: Caller;
  readonly options?: CribOptions;
  readonly tools?: readonly ToolInput[];
}

/** A crib with an agent, and the server of its model. */
export async function openDesk(given: DeskOptions = {}, running?: ModelServer): Promise<Desk> {
  const server = running ?? (await startModelServer());
  const { run = {}, more = {}, settings = {}, model = {}, caller = {}, options = {}, tools = [] } = given;
  const outer = tools.some(({ name }) => name === 'outer') ? ['outer'] : [];
  const crib = await createCrib({
    tools: [...deskTools, agent(run, more), ...tools],
    profiles: {
      desk: { include: ['helper', 'greet', ...outer], delegate: { library: 'open' } },
      library: { exclude: ['greet', ...outer] },
    },
    store: 'memory',
    ...options,
    config: {
      executors: { agent: { retries: 0, models: { local: { baseUrl: server.url, ...model } }, ...settings } },
      ...options.config,
    },
  });
  const chest = await crib.open('desk', { id: 'alice', ...caller });
  return {
    server,
    crib,
    chest,
    ask: (question = 'What is in Emma?', more = {}) => chest.call('helper', { question }, more),
    async close() {
      await crib.close();
      if (running === undefined) await server.close();
    },
  };
}

/** What an agent spent, as its result says. */
export const spentOf = (result: ToolResult): unknown => result.meta?.['toolcrib/agent'];

/** A model server for all tests of a file, and desks that use it, each closed after its test. */
export function useDesks() {
  let running: ModelServer | undefined;
  beforeAll(async () => {
    running = await startModelServer();
  });
  afterAll(() => running?.close());
  const server = (): ModelServer => {
    if (running === undefined) throw new Error('The model server has not started.');
    return running;
  };
  const desk = async (given: DeskOptions = {}) => {
    const opened = await openDesk(given, server());
    onTestFinished(() => opened.close());
    return opened;
  };
  return { server, desk };
}
