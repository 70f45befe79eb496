import { done } from '../../src/index.ts';

const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Text of another server that wants to be more than text: markup, control and bidi characters, pictures from outside. */
const HOSTILE = {
  script: '<script>globalThis.wasRun = true</script><img src=x onerror="globalThis.wasRun = true">',
  bidi: 'safe\u202Eexe.txt\u0007',
  markdown:
    '# Title\n\n<img src=x onerror="globalThis.wasRun=true">\n\n![pixel](https://tracker.example/p.png)\n\n[run](javascript:globalThis.wasRun=true)\n\n- one\n- two\n',
  huge: 'A'.repeat(15_000),
};

const NO_ARGUMENTS = { type: 'object', properties: {}, additionalProperties: false };
const any = { type: 'object' };

const tool = (name: string, execute: (given: unknown) => unknown, more: object = {}) => ({
  name,
  description: `Answers with ${name}`,
  input: NO_ARGUMENTS,
  effects: { readOnly: true },
  execute,
  ...more,
});

/** Ends the waiting of `count_slowly`, so that no test waits for a time. */
export const gate = Promise.withResolvers<void>();

async function* countSlowly(_: unknown, call?: { readonly signal?: AbortSignal }) {
  yield { progress: 0.5, message: 'half of it' };
  await Promise.race([gate.promise, new Promise((resolve) => call?.signal?.addEventListener('abort', resolve))]);
  return 'counted';
}

/** A tool for each type of result. */
export const RESULT_TOOLS = [
  tool('plain_text', () => 'Just a line of text.'),
  tool('markdown', () => HOSTILE.markdown),
  tool('rows', () => [
    { id: 1, name: 'Ada' },
    { id: 2, name: 'Grace', more: { a: [1] } },
  ]),
  tool('echo', (given) => ({ given }), { input: any }),
  tool('picture', () => done([{ type: 'image', mimeType: 'image/png', data: DOT }])),
  tool('sound', () => done([{ type: 'audio', mimeType: 'audio/wav', data: 'UklGRiQAAABXQVZFZm10IBAAAAABAAEA' }])),
  tool('references', () =>
    done([
      { type: 'resource_link', uri: 'https://example.com/report', name: 'The report' },
      { type: 'resource_link', uri: 'javascript:globalThis.wasRun=true', name: 'Not a report' },
      { type: 'resource', resource: { uri: 'file:///notes.md', mimeType: 'text/markdown', text: '**bold** words' } },
    ] as never),
  ),
  tool('large', () => 'x'.repeat(5_000_000)),
  tool('large_json', () => ({ rows: Array.from({ length: 6000 }, (_, id) => ({ id, text: 'y'.repeat(80) })) })),
  tool('count_slowly', countSlowly),
  tool('hostile_text', () => `${HOSTILE.script}\n${HOSTILE.bidi}`),
  tool('hostile_error', () => {
    throw new Error(`${HOSTILE.script} ${HOSTILE.bidi}`);
  }),
  tool('hostile_words', () => 'fine', { description: `${HOSTILE.script} ${HOSTILE.bidi} ${HOSTILE.huge}` }),
  tool('hostile_nesting', () => `# Title\n\n${'>'.repeat(5000)} the end`),
  tool(
    'hostile_lists',
    () => `# Title\n\n${Array.from({ length: 150 }, (_, at) => `${' '.repeat(at * 2)}- x`).join('\n')}`,
  ),
  tool('wipe', () => 'wiped', { effects: { destructive: true } }),
];
