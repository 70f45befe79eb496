import { answerTo, type Message } from './echo-answer.ts';

// node echo-stdio.ts [COUNT]: with a number, a server that lists so many tools besides.
const more = Array.from({ length: Number(process.argv[2] ?? 0) }, (_, index) => ({
  name: `tool_${index}`,
  description: `Tool number ${index} of many, which says what it is for in a sentence of usual length.`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' }, count: { type: 'integer' } } },
}));
let rest = '';
process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
  const lines = chunk.split('\n');
  lines[0] = rest + lines[0];
  rest = lines.pop() ?? '';
  for (const line of lines) {
    const message: Message = JSON.parse(line);
    const answer = more.length === 0 ? answerTo(message) : answerTo(message, more);
    if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
});
process.stdin.on('end', () => process.exit(0));
