import { randomBytes } from 'node:crypto';
import { acceptedContent, createRequestStateCodec, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { capabilitiesOf, type FixtureCall, type FixtureTool, say } from './fixture-call.ts';

/** What a client carries between two rounds of a call is signed. */
export const STATES = createRequestStateCodec<string>({ key: randomBytes(32) });

type Form = Parameters<typeof inputRequired.elicit>[0]['requestedSchema'];

const form = (message: string, properties: object, required: readonly string[] = Object.keys(properties)) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required: [...required] } as Form }); // the words of the suite, newer than the type

const ask = (text: string) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100 });

const answersOf = ({ context }: FixtureCall) => context.mcpReq.inputResponses;
const stateOf = ({ context }: FixtureCall) => context.mcpReq.requestState<string>();

const NAME = { name: { type: 'string' } };
const ENUM = ['option1', 'option2', 'option3'];
const TITLED = [
  { const: 'value1', title: 'First' },
  { const: 'value2', title: 'Second' },
];

/** A tool that asks for one thing and says what it was told. */
function asking(name: string, key: string, question: (call: FixtureCall) => ReturnType<typeof ask>): FixtureTool {
  return {
    name,
    description: `Asks the client: ${key}`,
    run: (call) => {
      const answer = inputResponse(answersOf(call), key);
      if (answer.kind === 'missing') return inputRequired({ inputRequests: { [key]: question(call) } });
      return say(JSON.stringify(answer));
    },
  };
}

/** The same, with a state that has to come back. */
function confirming(name: string): FixtureTool {
  return {
    name,
    description: 'Asks the client to confirm, and remembers nothing itself',
    run: async (call) => {
      const answer = acceptedContent(answersOf(call), 'confirm');
      if (answer !== undefined && stateOf(call) === name) return say('state-ok');
      const inputRequests = { confirm: form('Go on?', { ok: { type: 'boolean' } }) };
      return inputRequired({ inputRequests, requestState: await STATES.mint(name) });
    },
  };
}

async function askInThree(call: FixtureCall): Promise<unknown> {
  const name = acceptedContent(answersOf(call), 'step1');
  const colour = acceptedContent(answersOf(call), 'step2');
  if (colour !== undefined && stateOf(call)?.startsWith('2') === true)
    return say(`${stateOf(call)?.slice(1)} ${JSON.stringify(colour)}`);
  if (name !== undefined && stateOf(call) === '1')
    return inputRequired({
      inputRequests: { step2: form('Which colour?', { color: { type: 'string' } }) },
      requestState: await STATES.mint(`2${JSON.stringify(name)}`),
    });
  return inputRequired({ inputRequests: { step1: form('Who?', NAME) }, requestState: await STATES.mint('1') });
}

async function askForThree(call: FixtureCall): Promise<unknown> {
  const keys = ['user_name', 'greeting', 'client_roots'];
  if (keys.every((key) => inputResponse(answersOf(call), key).kind !== 'missing')) return say('thank you');
  const inputRequests = {
    user_name: form('Who?', NAME),
    greeting: ask('Greet'),
    client_roots: inputRequired.listRoots(),
  };
  return inputRequired({ inputRequests, requestState: await STATES.mint('three') });
}

/** Asks only for what the client can give. */
function askForWhatThereIs(call: FixtureCall): unknown {
  const can = capabilitiesOf(call);
  const inputRequests = {
    ...('elicitation' in can && { user_name: form('Who?', NAME) }),
    ...('sampling' in can && { greeting: ask('Greet') }),
  };
  return Object.keys(inputRequests).length === 0 ? say('nobody to ask') : inputRequired({ inputRequests });
}

const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};

const CHOICES = {
  untitledSingle: { type: 'string', enum: ENUM },
  titledSingle: { type: 'string', oneOf: TITLED },
  legacyEnum: { type: 'string', enum: ENUM, enumNames: ['One', 'Two', 'Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ENUM } },
  titledMulti: { type: 'array', items: { anyOf: TITLED } },
};

/** Tools that need more than their arguments: they ask the caller. */
export const ASKING_TOOLS: readonly FixtureTool[] = [
  asking('test_input_required_result_elicitation', 'user_name', () => form('Who are you?', NAME)),
  asking('test_input_required_result_sampling', 'capital_question', () => ask('Which town is the capital of France?')),
  asking('test_input_required_result_list_roots', 'client_roots', () => inputRequired.listRoots()),
  asking('test_streaming_elicitation', 'user_name', () => form('Who are you?', NAME)),
  asking('test_elicitation', 'user', ({ input }) =>
    form(String(input.message), { username: { type: 'string' }, email: { type: 'string' } }),
  ),
  asking('test_sampling', 'answer', ({ input }) => ask(String(input.prompt))),
  asking('test_elicitation_sep1034_defaults', 'defaults', () => form('Is all of it right?', DEFAULTS, [])),
  asking('test_elicitation_sep1330_enums', 'choices', () => form('What do you choose?', CHOICES, [])),
  confirming('test_input_required_result_request_state'),
  confirming('test_input_required_result_tampered_state'),
  { name: 'test_input_required_result_multi_round', description: 'Asks twice', run: askInThree },
  {
    name: 'test_input_required_result_multiple_inputs',
    description: 'Asks for three things at once',
    run: askForThree,
  },
  {
    name: 'test_input_required_result_capabilities',
    description: 'Asks for what the client can give',
    run: askForWhatThereIs,
  },
];
