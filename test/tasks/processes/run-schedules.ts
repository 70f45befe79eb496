// Runs tasks of a store, and appends a line to a file for each call. Arguments: the store, the file.
import { appendFileSync } from 'node:fs';
import { createCrib, defineTool } from '../../../src/index.ts';

const [, , store = '', file = ''] = process.argv;
const note = defineTool({
  name: 'note',
  description: 'Note the caller',
  input: { type: 'object' },
  run: (_input, { caller }) => {
    appendFileSync(file, `${caller.id}\n`);
    return 'noted';
  },
});
const crib = await createCrib({ store, tools: [note] });
crib.server.runTasks();
console.log('ready');
process.stdin.on('end', () => void crib.close()).resume();
