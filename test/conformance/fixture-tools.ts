import { MissingRequiredClientCapabilityError } from '@modelcontextprotocol/server';
import { capabilitiesOf, type FixtureCall, type FixtureTool, IMAGE, say } from './fixture-call.ts';
import { ASKING_TOOLS } from './fixture-rounds.ts';

const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const embedded = (uri: string, text: string, mimeType = 'text/plain') => ({
  type: 'resource',
  resource: { uri, mimeType, text },
});

async function reportProgress({ context }: FixtureCall): Promise<unknown> {
  const progressToken = context.mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100])
    if (progressToken !== undefined)
      await context.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 100, message: `${progress} of 100` },
      });
  return say('all of it');
}

async function writeLog({ context }: FixtureCall): Promise<unknown> {
  for (const line of ['begun', 'under way', 'done']) await context.mcpReq.log('info', line);
  return say('logged');
}

/** The schema that has to come through as it is; the suite looks for each of these words. */
const RICH_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const ROUTED_SCHEMA = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  required: ['region'],
};

/** The tool that comes with the first change and is another with each: two changes at once must not undo each other. */
export function changingTool(changes: number): FixtureTool {
  return { name: 'test_changing_tool', description: `After change ${changes}`, run: () => say('here') };
}

/** Everything that the scenarios for servers call. The first needs no arguments: the suite calls whatever stands there. */
export const TOOLS: readonly FixtureTool[] = [
  { name: 'test_simple_text', description: 'Answers in words', run: () => say('a few words') },
  { name: 'test_image_content', description: 'Answers with a picture', run: () => ({ content: [IMAGE] }) },
  {
    name: 'test_audio_content',
    description: 'Answers with a sound',
    run: () => ({ content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] }),
  },
  {
    name: 'test_embedded_resource',
    description: 'Answers with a resource',
    run: () => ({ content: [embedded('test://embedded-resource', 'inside')] }),
  },
  {
    name: 'test_multiple_content_types',
    description: 'Answers with a bit of everything',
    run: () => ({
      content: [
        { type: 'text', text: 'words' },
        IMAGE,
        embedded('test://mixed-content-resource', '{"value":123}', 'application/json'),
      ],
    }),
  },
  {
    name: 'test_error_handling',
    description: 'Fails',
    run: () => ({ ...say('it failed, as it should'), isError: true }),
  },
  { name: 'test_tool_with_progress', description: 'Says how far it is', run: reportProgress },
  { name: 'test_tool_with_logging', description: 'Writes to the log of the client', run: writeLog },
  { name: 'test_logging_tool', description: 'Writes to the log of a client that wants it', run: writeLog },
  { name: 'test_reconnection', description: 'Answers although the stream may end', run: () => say('still here') },
  {
    name: 'json_schema_2020_12_tool',
    description: 'Has a schema of many words',
    inputSchema: RICH_SCHEMA,
    run: () => say('valid'),
  },
  {
    name: 'test_header_argument',
    description: 'Has an argument that stands in a header, too',
    inputSchema: ROUTED_SCHEMA,
    run: ({ input }) => say(String(input.region)),
  },
  {
    name: 'test_missing_capability',
    description: 'Needs a client that has a model',
    run: (call) => {
      if ('sampling' in capabilitiesOf(call)) return say('it has');
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    },
  },
  {
    name: 'test_trigger_tool_change',
    description: 'Changes the list of tools',
    run: ({ changeTools }) => {
      changeTools();
      return say('changed');
    },
  },
  ...ASKING_TOOLS,
];
