import { acceptedContent, inputRequired, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import { IMAGE } from './fixture-call.ts';

const RESOURCES = [
  { uri: 'test://static-text', name: 'text', description: 'Words', mimeType: 'text/plain', text: 'words' },
  { uri: 'test://static-binary', name: 'binary', description: 'A pixel', mimeType: 'image/png', blob: IMAGE.data },
  { uri: 'test://watched-resource', name: 'watched', description: 'May change', mimeType: 'text/plain', text: 'now' },
];
const TEMPLATE = { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' };

function readResource(uri: string) {
  const known = RESOURCES.find((resource) => resource.uri === uri);
  if (known !== undefined) {
    const { name: _name, description: _description, ...contents } = known;
    return contents;
  }
  const [, id] = /^test:\/\/template\/(\w+)\/data$/.exec(uri) ?? [];
  if (id === undefined) throw new ResourceNotFoundError(uri);
  return { uri, mimeType: TEMPLATE.mimeType, text: JSON.stringify({ id, templateTest: true }) };
}

/** Resources under the addresses that the suite reads. */
export function serveResources(server: Server): void {
  server.setRequestHandler('resources/list', () => ({
    resources: RESOURCES.map(({ uri, name, description, mimeType }) => ({ uri, name, description, mimeType })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [TEMPLATE] }));
  server.setRequestHandler('resources/read', ({ params }) => ({ contents: [readResource(params.uri)] }) as never); // one of text and blob is there
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
}

const words = (text: string) => ({ role: 'user', content: { type: 'text', text } }) as const;

type Values = Readonly<Record<string, string>>;

const PROMPTS: Readonly<Record<string, { readonly values: readonly string[]; messages(values: Values): unknown }>> = {
  test_simple_prompt: { values: [], messages: () => [words('Say something')] },
  test_prompt_with_arguments: {
    values: ['arg1', 'arg2'],
    messages: ({ arg1, arg2 }) => [words(`Say ${arg1} and ${arg2}`)],
  },
  test_prompt_with_embedded_resource: {
    values: ['resourceUri'],
    messages: ({ resourceUri }) => [
      {
        role: 'user',
        content: { type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text: 'inside' } },
      },
      words('Read this'),
    ],
  },
  test_prompt_with_image: {
    values: [],
    messages: () => [{ role: 'user', content: IMAGE }, words('Look at this')],
  },
};
const ASKING_PROMPT = 'test_input_required_result_prompt';

/** Prompts under the names that the suite asks for. */
export function servePrompts(server: Server): void {
  server.setRequestHandler('prompts/list', () => ({
    prompts: [...Object.keys(PROMPTS), ASKING_PROMPT].map((name) => ({
      name,
      description: `The prompt ${name}`,
      arguments: (PROMPTS[name]?.values ?? []).map((value) => ({ name: value, description: value, required: true })),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq }) => {
    const known = PROMPTS[params.name];
    if (known !== undefined) return { messages: known.messages(params.arguments ?? {}) } as never; // of its shapes
    const answer = acceptedContent(mcpReq.inputResponses, 'user_context');
    if (answer !== undefined) return { messages: [words(JSON.stringify(answer))] };
    const context = { type: 'object', properties: { context: { type: 'string' } }, required: ['context'] } as const;
    const question = inputRequired.elicit({
      message: 'What is it about?',
      requestedSchema: { ...context, required: ['context'] },
    });
    return inputRequired({ inputRequests: { user_context: question } });
  });
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['test'], total: 1, hasMore: false },
  }));
}
