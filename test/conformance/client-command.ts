// The client that the conformance suite looks at: a crib with one source, the server whose address is the last argument.

import type { ClientCredentials } from '../../src/config/types/sources.ts';
import { type Chest, createCrib, type ToolResult } from '../../src/index.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Calling {
  readonly name: string;
  readonly arguments: Fields;
}

/** What a scenario wants its client to know. */
interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly toolCalls?: readonly Calling[];
}

const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const { client_id, client_secret, toolCalls }: Context = JSON.parse(context);
const url = process.argv.at(-1) ?? '';

const auth =
  scenario === 'auth/client-credentials-basic'
    ? {
        auth: {
          clientCredentials: {
            clientId: client_id,
            clientSecret: client_secret,
            tokenUrl: await findTokenUrl(url),
          } as ClientCredentials, // the scenario gives both
        },
      }
    : {};
const crib = await createCrib({
  config: { sources: { suite: { mcp: { url, ...auth }, prefix: '', initTimeoutMs: 20_000 } } },
  store: { url: 'memory:' },
  watch: false,
});
const state = crib.sources().find(({ name }) => name === 'suite');
console.error(JSON.stringify(state));
const chest = await crib.open();
const calls =
  toolCalls?.map(withoutNulls) ?? chest.list().map(({ name }) => ({ name, arguments: argumentsFor(name, chest) }));
for (const { name, arguments: input } of calls)
  console.error(name, JSON.stringify(await callAndAnswer(chest, name, input)));
await crib.close();
process.exitCode = state?.state === 'failed' ? 1 : 0;

/** What an owner would look up and write down: the suite gives out tokens at another port of this machine, where no server can send us. */
async function findTokenUrl(server: string): Promise<string> {
  const get = async (address: URL) => (await (await fetch(address)).json()) as { [key: string]: string | string[] }; // as the protocol has it
  const { authorization_servers = [] } = await get(new URL('/.well-known/oauth-protected-resource/mcp', server));
  const { token_endpoint } = await get(new URL('/.well-known/oauth-authorization-server', authorization_servers[0]));
  return String(token_endpoint);
}

/** What each tool of the suite is called with. */
function argumentsFor(name: string, chest: Chest): Fields {
  const known: Readonly<Record<string, Fields>> = {
    add_numbers: { a: 5, b: 3 },
    valid_tool: { region: 'eu-central1' },
    json_schema_echo: { schema: chest.get('json_schema_2020_12_tool')?.input },
    json_schema_2020_12_tool: { name: 'Ann', contactMethod: 'email', email: 'ann@example.com' },
    lookup_user: { id: 'ann' },
  };
  return known[name] ?? {};
}

/** Where the suite gives null for what its schema wants to be true or false: left out means the same and is valid. */
function withoutNulls({ name, arguments: input }: Calling): Calling {
  return { name, arguments: Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) };
}

/** Calls a tool, and says yes to whatever its server asks. */
async function callAndAnswer(chest: Chest, name: string, input: Fields): Promise<ToolResult> {
  const capabilities = { elicitation: {} };
  const first = await chest.call(name, input, { answers: { input: { capabilities } } });
  if (first.status !== 'waiting' || first.waiting.for !== 'input') return first;
  const { inputRequests = {}, requestState } = first.waiting.ask as { inputRequests?: Fields; requestState?: string }; // as the executor hands it on
  const yes = { action: 'accept', content: { confirmed: true } };
  const responses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, yes]));
  const state = requestState === undefined ? {} : { state: requestState };
  return chest.call(name, input, { answers: { input: { capabilities, responses, ...state } } });
}
