import { describe, expect, it } from 'vitest';
import { TOKEN_FORMATS, tokensOf, tokensOfEach } from '../../../src/formats/token-cost.ts';
import { defineTool } from '../../../src/index.ts';

const tool = (name: string, description: string) =>
  defineTool({
    name,
    description,
    input: {
      type: 'object',
      properties: { path: { type: 'string', description: 'Where the file is' } },
      required: ['path'],
    },
    run: () => '',
  });
const tools = [tool('read_file', 'Read a file of the workspace'), tool('remove_file', 'Remove a file for good')];

describe('the token cost of tools', () => {
  it.each(TOKEN_FORMATS)('in %s is the sum over the tools', async (format) => {
    const each = await tokensOfEach(tools, format);
    expect(each.every((count) => count > 20 && count < 100)).toBe(true);
    expect(await tokensOf(tools, format)).toBe(each.reduce((sum, count) => sum + count, 0));
  });

  it('equals the count of the encoding of current models', async () => {
    const { encode } = await import('gpt-tokenizer/encoding/o200k_base');
    const { toOpenAI } = await import('../../../src/formats/openai.ts');
    expect(await tokensOf(tools.slice(0, 1), 'openai')).toBe(encode(JSON.stringify(toOpenAI(tools)[0])).length);
  });

  it('of a Gemini tool leaves out the part that all tools share', async () => {
    const { encode } = await import('gpt-tokenizer/encoding/o200k_base');
    const { toGemini } = await import('../../../src/formats/gemini.ts');
    const [declaration] = toGemini(tools)[0]?.functionDeclarations ?? [];
    expect(await tokensOf(tools.slice(0, 1), 'gemini')).toBe(encode(JSON.stringify(declaration)).length);
  });

  it('is estimated within a fifth', async () => {
    const exact = await tokensOf(tools, 'openai');
    const estimate = await tokensOf(tools, 'openai', 'estimate');
    expect(Math.abs(estimate / exact - 1)).toBeLessThan(0.2);
  });

  it('is available for more tools than a vendor accepts at once', async () => {
    const many = Array.from({ length: 200 }, (_, index) => tool(`tool_${index}`, 'One of many'));
    expect(await tokensOf(many, 'openai', 'estimate')).toBeGreaterThan(200 * 20);
  });

  it('of no tools is 0', async () => {
    expect(await tokensOf([], 'gemini')).toBe(0);
  });

  it('survives descriptions that try to break a tokenizer, in less than quadratic time', async () => {
    for (const hostile of [
      '<|endoftext|>',
      '<|im_start|>'.repeat(10),
      'a'.repeat(15_000),
      '!'.repeat(15_000),
      '日'.repeat(15_000),
      'a'.repeat(200_000),
    ])
      expect(await tokensOf([tool('x', hostile)], 'mcp')).toBeGreaterThan(20);
  });

  it.each(TOKEN_FORMATS)('of a definition of more than 20,000 characters is estimated: %s', async (format) => {
    const explained = (count: number) => {
      const path = { type: 'string', description: 'word '.repeat(count) };
      return defineTool({
        name: 'x',
        description: 'x',
        input: { type: 'object', properties: { path } },
        run: () => '',
      });
    };
    const words = explained(4000);
    const [exact, estimate] = [await tokensOf([words], format), await tokensOf([words], format, 'estimate')];
    expect(exact).toBe(estimate);
    const shorter = explained(3000);
    expect(await tokensOf([shorter], format)).not.toBe(await tokensOf([shorter], format, 'estimate'));
  });

  it('of one tool is counted once in each format', async () => {
    let reads = 0;
    const spec = new Proxy(tool('x', 'Read a file'), {
      get(target, key) {
        if (key === 'description') reads++;
        return Reflect.get(target, key);
      },
    });
    const first = await tokensOf([spec], 'openai');
    const readsOnce = reads;
    expect(readsOnce).toBeGreaterThan(0);
    expect(await tokensOf([spec], 'openai')).toBe(first);
    expect(reads).toBe(readsOnce);
    await tokensOf([spec], 'anthropic');
    expect(reads).toBeGreaterThan(readsOnce);
  });
});
