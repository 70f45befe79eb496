import { Server } from '@modelcontextprotocol/server';
import type { FixtureTool } from './fixture-call.ts';
import { STATES } from './fixture-rounds.ts';
import { servePrompts, serveResources } from './fixture-texts.ts';
import { changingTool, TOOLS } from './fixture-tools.ts';

/** What all instances of the fixture share. */
export interface FixtureState {
  tools: readonly FixtureTool[];
  changes: number;
  /** Tells that the list of tools is another now. */
  announce(): void;
}

export function createState(announce: () => void): FixtureState {
  return { tools: TOOLS, changes: 0, announce };
}

const NO_ARGUMENTS = { type: 'object', properties: {} };

/** A server with everything that the scenarios for servers call by name. */
export function createFixture(state: FixtureState): Server {
  const server = new Server(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true },
        prompts: {},
        completions: {},
        logging: {},
      },
      requestState: { verify: STATES.verify },
    },
  );
  const changeTools = () => {
    state.changes++;
    state.tools = [...TOOLS, changingTool(state.changes)];
    state.announce();
  };
  server.setRequestHandler('tools/list', () => ({
    tools: state.tools.map(({ run: _run, inputSchema = NO_ARGUMENTS, ...tool }) => ({ ...tool, inputSchema })) as never, // schemas are any JSON
  }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: input = {} } }, context) => {
    const tool = state.tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`There is no tool "${name}".`);
    return (await tool.run({ input, context, server, changeTools })) as never; // results as the protocol has them
  });
  serveResources(server);
  servePrompts(server);
  return server;
}
