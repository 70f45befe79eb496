import { MockLanguageModelV4 } from 'ai/test';

type Turn = Extract<ConstructorParameters<typeof MockLanguageModelV4>[0], object>['doGenerate'];
type Generated = Extract<Turn, { content: unknown }>;

const usage: Generated['usage'] = {
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: undefined, reasoning: undefined },
};

/** A model of the AI SDK that makes these calls, then says that it is done. */
export function callingModel(calls: readonly { name: string; input: string }[]): MockLanguageModelV4 {
  const content: Generated['content'] = calls.map(({ name, input }, index) => ({
    type: 'tool-call',
    toolCallId: `call_${index}`,
    toolName: name,
    input,
  }));
  return new MockLanguageModelV4({
    doGenerate: [
      { content, finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] },
      {
        content: [{ type: 'text', text: 'done' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
}
