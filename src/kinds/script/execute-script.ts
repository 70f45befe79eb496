import type { ToolSpec } from '../../core/tool-spec.ts';
import { defineTool } from '../../define/define-tool.ts';
import { LONGEST_CODE } from './script-messages.ts';

/** The tool `execute_script`. It has no effects of its own: each call of the script passes its own gates. */
export const executeScript: ToolSpec = defineTool({
  name: 'execute_script',
  title: 'Execute a script',
  description: `Runs JavaScript or TypeScript that calls tools, so that several calls need one request. The code is the body of an async function:
- await tools.NAME({ ... }) calls a tool; it resolves to the result, or throws an error with code, message and issues.
- await search('what should be done') finds tools, with their signatures.
- Promise.all makes calls in parallel. console.log(...) shows progress. return gives the result.
The code has no access to files, network, processes, timers, import and require.`,
  input: {
    type: 'object',
    properties: {
      code: { type: 'string', minLength: 1, maxLength: LONGEST_CODE, description: 'The code to run.' },
      input: { type: 'object', description: 'Data that the code reads as input.' },
    },
    required: ['code'],
    additionalProperties: false,
  },
  policy: { approval: 'never' },
  run: { kind: 'script', codeFrom: 'input' },
});
