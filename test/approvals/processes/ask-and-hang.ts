import { createCrib, defineTool } from '../../../src/index.ts';

/** Asks in the middle of a call, and waits for the answer. */
const [url = ''] = process.argv.slice(2);
const ask = defineTool({
  name: 'ask',
  description: 'Asks',
  input: { type: 'object' },
  policy: { approvalTimeoutMs: 2000 },
  run: (_, call) => {
    console.log('asking');
    return call.confirm('Sure?');
  },
});
const crib = await createCrib({ store: { url }, tools: [ask] });
const chest = await crib.open(undefined, { id: 'alice' });
console.log(JSON.stringify(await chest.call('ask')));
