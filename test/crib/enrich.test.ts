import { appendFileSync, existsSync, linkSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { type Asked, type ModelServer, type Move, startModelServer } from '../kinds/agent/model-server.ts';
import { cribOf, folderWith } from './workshop.ts';

const model: ModelServer = await startModelServer();
afterAll(() => model.close());
beforeEach(() => model.play(byTool({})));

const TOOLS = { refund: 'Refund a charge', invite: 'Invite a person', post: 'Post a message' };
const listed = (name: string, more: object = {}) => ({
  name,
  description: TOOLS[name as keyof typeof TOOLS],
  input: { type: 'object' },
  run: { kind: 'http', url: 'https://example.com' },
  ...more,
});
const settings = {
  tools: Object.keys(TOOLS).map((name) => listed(name)),
  retrieval: { examples: './requests.jsonl', enrich: 'writer', embeddings: 'none' },
  executors: {
    agent: {
      retries: 0,
      models: {
        writer: { baseUrl: model.url, model: 'small', key: `\${secret:key}`, prices: { input: 1, output: 2 } },
      },
    },
  },
  secrets: { key: { env: 'ENRICH_KEY', hosts: ['127.0.0.1'] } },
};
process.env.ENRICH_KEY = 'sk-of-the-owner';

const GOOD = ['give them their money back', 'it was charged twice, undo one', 'money back please'];
const answer = (requests: unknown) => JSON.stringify(requests);
const toolOf = ({ body }: Asked) => JSON.parse(body.messages.at(-1).content).name as string; // as the prompt is
/** The answers by tool; others get good ones. */
function byTool(moves: Readonly<Record<string, Move>>) {
  return (asked: Asked): Move => moves[toolOf(asked)] ?? answer(GOOD.map((text) => `${text} (${toolOf(asked)})`));
}

async function open(changes: object = {}, files: Readonly<Record<string, string>> = {}) {
  const folder = folderWith({ 'toolcrib.yaml': JSON.stringify({ ...settings, ...changes }), ...files });
  const crib = await cribOf(folder, { watch: false });
  const file = join(folder, 'requests.jsonl');
  const { examples } = crib.server;
  const write = (more: object = {}) => examples.write({ signal: new AbortController().signal, ...more });
  const lines = () =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { folder, crib, file, examples, write, lines };
}

describe('requests that a model writes', () => {
  it('come from the description alone, one call for each tool, and are kept one line a tool', async () => {
    const { examples, write, lines } = await open();
    const plan = await examples.plan();
    expect(plan).toMatchObject({ model: 'writer', host: model.host, tools: ['refund', 'invite', 'post'] });
    expect(plan.cost).toBeCloseTo((plan.inputTokens + 2 * plan.outputTokens) / 1e6);
    expect(model.asked).toHaveLength(0);
    const { written, failed } = await write();
    expect([written.length, failed]).toEqual([3, []]);
    expect(lines().map(({ tool }) => tool)).toEqual(['invite', 'post', 'refund']);
    expect(lines()[2]).toEqual({
      tool: 'refund',
      of: expect.stringMatching(/^[0-9a-f]{16}$/),
      requests: GOOD.map((text) => `${text} (refund)`),
    });
    const [asked] = model.asked;
    expect(asked?.headers.authorization).toBe('Bearer sk-of-the-owner');
    expect(asked?.body).toMatchObject({ model: 'small' });
    expect(JSON.parse(asked?.body.messages[1].content)).toEqual({ name: 'refund', description: 'Refund a charge' });
  });

  it('are found by search after a reload, and no listing has them', async () => {
    model.play(byTool({ refund: answer(['my umbrella was charged twice', ...GOOD]) }));
    const { crib, write } = await open();
    const chest = await crib.open();
    expect(await chest.search('umbrella')).toEqual([]);
    await write();
    await crib.reload();
    const [best] = await chest.search('umbrella');
    expect(best).toMatchObject({ name: 'refund', why: 'examples: "umbrella"' });
    for (const specs of [chest.list(), chest.listActive(), crib.catalog.specs, [best?.spec]])
      expect(JSON.stringify(specs)).not.toContain('charged twice');
  });

  it('count as soon as the file is edited', async () => {
    const folder = folderWith({ 'toolcrib.yaml': JSON.stringify(settings), 'requests.jsonl': '' });
    const crib = await cribOf(folder);
    const chest = await crib.open();
    expect(await chest.search('umbrella')).toEqual([]);
    const edited = new Promise<void>((resolve) => void crib.server.onListings(resolve));
    writeFileSync(join(folder, 'requests.jsonl'), '{"tool":"refund","requests":["my umbrella broke"]}\n');
    await edited;
    expect(await chest.search('umbrella')).toMatchObject([{ name: 'refund' }]);
  });

  it('are asked for again only if the description changed, and never replace lines of the owner', async () => {
    const own = '{"tool":"post","requests":["say hello to everybody"]}\n';
    const { write, lines, examples, folder, crib } = await open({}, { 'requests.jsonl': own });
    await write();
    expect(lines().find(({ tool }) => tool === 'post').requests).toEqual(['say hello to everybody']);
    expect(await examples.plan()).toMatchObject({ tools: [] });
    const tools = [listed('refund', { description: 'Return the money' }), listed('invite'), listed('post')];
    writeFileSync(join(folder, 'toolcrib.yaml'), JSON.stringify({ ...settings, tools }));
    await crib.reload();
    expect((await examples.plan()).tools).toEqual(['refund']);
    expect((await examples.list()).map(({ tool, state }) => [tool, state])).toEqual([
      ['invite', 'current'],
      ['post', 'own'],
      ['refund', 'changed'],
    ]);
  });

  it('are not written for tools with enough examples of their own, nor for tools that are not meant', async () => {
    const examples = Array.from({ length: 5 }, (_, index) => ({ request: `refund ${index}` }));
    const tools = [listed('refund', { examples }), listed('invite'), listed('post')];
    const { examples: server } = await open({ tools });
    expect((await server.plan()).tools).toEqual(['invite', 'post']);
    expect((await server.plan({ isMeant: (tool) => tool === 'post' })).tools).toEqual(['post']);
  });

  it.each<[string, Move]>([
    ['text', 'Here are some requests: refund it'],
    ['JSON that breaks off', { text: answer(GOOD).slice(0, -4) }],
    ['an answer that was cut', { text: answer(GOOD), stop: 'length' }],
    ['nothing', ''],
    ['no list', answer({ requests: 'refund it' })],
    ['too few', answer(['refund it', 'refund it', 5, '  '])],
    ['requests with markup and addresses', answer(['<b>x</b>', 'see https://evil.example', '[a](b)', 'y'.repeat(300)])],
    ['a refusal', { text: '', refusal: 'no' }],
    ['an error', { status: 400, body: { error: { message: 'bad sk-of-the-owner' } } }],
  ])('of a model that answers with %s fail for this tool, and the others are written', async (_, move) => {
    model.play(byTool({ refund: move }));
    const { write, lines } = await open();
    const { failed, written, stopped } = await write();
    expect(failed).toEqual([{ tool: 'refund', reason: expect.any(String) }]);
    expect(JSON.stringify(failed)).not.toContain('sk-of-the-owner');
    expect([written.length, stopped]).toEqual([2, undefined]);
    expect(lines().map(({ tool }) => tool)).toEqual(['invite', 'post']);
  });

  it('are plain text in one line, each once, and at most ten', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `request number ${index}`);
    model.play(
      byTool({
        refund: answer([
          '1. get it\nback\u0007 \u202enow',
          '- `money` back',
          '**Money** back',
          'GET IT BACK NOW',
          'a third one',
        ]),
        post: `\`\`\`json\n${answer({ requests: many })}\n\`\`\``,
      }),
    );
    const { write, lines } = await open();
    await write();
    const requests = (name: string) => lines().find(({ tool }) => tool === name).requests;
    expect(requests('refund')).toEqual(['GET IT BACK NOW', 'Money back', 'a third one']);
    expect(requests('post')).toHaveLength(10);
  });

  it('end early if the server fails again and again, and go on in the next run', async () => {
    const tools = Array.from({ length: 40 }, (_, index) => ({ ...listed('post'), name: `post_${index}` }));
    model.play((asked) => (Number(toolOf(asked).slice(5)) < 4 ? answer(GOOD) : { status: 401, body: {} }));
    const { write, lines, examples } = await open({ tools });
    const { stopped, written } = await write();
    expect(stopped).toMatch(/^The model server failed 5 times in a row: /);
    expect(written).toHaveLength(4);
    expect(model.asked.length).toBeLessThan(16);
    model.play(byTool({}));
    expect((await examples.plan()).tools).toHaveLength(36);
    await write();
    expect(lines()).toHaveLength(40);
  });

  it('that were written before a crash stay, and an incomplete last line is written anew', async () => {
    const { write, lines, file, examples } = await open();
    await write();
    const [first = '', second = ''] = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, `${first}\n${second.slice(0, 30)}`);
    expect((await examples.plan()).tools).toEqual(['refund', 'post']);
    await write();
    expect(lines()).toHaveLength(3);
  });

  it('replace the file by no name that a command could have put there as a link', async () => {
    const { write, folder, file } = await open({}, { 'precious.txt': 'precious' });
    for (const end of ['.tmp', `.${process.pid}.tmp`]) symlinkSync('precious.txt', `${file}${end}`);
    await write();
    expect(readFileSync(join(folder, 'precious.txt'), 'utf8')).toBe('precious');
    expect(lstatSync(file).isFile()).toBe(true);
  });

  it.each([
    ['a link to a file elsewhere', symlinkSync],
    ['a link to a file that is not there yet', symlinkSync],
    ['a hard link to a file elsewhere', linkSync],
  ])('are written through no link: %s', async (what, link) => {
    const elsewhere = folderWith(what.includes('not there') ? {} : { 'precious.txt': '' });
    const target = join(elsewhere, 'precious.txt');
    const { write, file } = await open();
    link(target, file);
    await expect(write()).rejects.toThrow(/requests\.jsonl is a link/);
    expect(model.asked).toHaveLength(0);
    expect(existsSync(target) ? readFileSync(target, 'utf8') : '').toBe('');
  });

  it.each([
    ['link', (target: string, file: string) => symlinkSync(target, file)],
    ['hard link', (target: string, file: string) => linkSync(target, file)],
  ])('are written through no %s that appears while the model is asked', async (_, link) => {
    const target = join(folderWith({ 'precious.txt': '' }), 'precious.txt');
    const { write, file } = await open();
    model.play(() => {
      if (!existsSync(file)) link(target, file);
      return answer(GOOD);
    });
    await expect(write()).rejects.toThrow(/requests\.jsonl is a link/);
    expect(readFileSync(target, 'utf8')).toBe('');
  });

  it('neither show the model a secret that a description contains, nor keep one', async () => {
    const secret = process.env.ENRICH_KEY ?? '';
    model.play(byTool({ refund: answer([`refund with ${secret}`, ...GOOD]) }));
    const tools = [listed('refund', { description: `Refunds; the key is ${secret}.`, title: secret })];
    const { write, file } = await open({ tools });
    const { written } = await write();
    expect(written[0]?.requests).toContain('refund with [secret key]');
    const sent = model.asked.map(({ body }) => JSON.stringify(body));
    expect([sent.length, [...sent, readFileSync(file, 'utf8')].join().includes(secret)]).toEqual([1, false]);
  });

  it('are not rewritten if a line of the file is a mistake', async () => {
    const { write, file, crib } = await open({}, { 'requests.jsonl': '{"tool":"post","requests":"hello"}\n' });
    await expect(write()).rejects.toThrow(/line 1 has no "requests"/);
    expect(readFileSync(file, 'utf8')).toContain('hello');
    expect(crib.warnings().join()).toMatch(
      /requests\.jsonl: line 1 has no "requests", a list of texts, and is left out/,
    );
  });

  it('of tools that are gone are pruned, unless a source is not ready', async () => {
    const { file, examples, write } = await open();
    await write();
    appendFileSync(file, '{"tool":"gone","requests":["x"]}\n');
    expect((await examples.list()).find(({ tool }) => tool === 'gone')).toMatchObject({ state: 'gone' });
    expect(await examples.prune()).toEqual(['gone']);
    expect(await examples.prune()).toEqual([]);
    const broken = await open(
      { sources: { away: { files: './away' } } },
      { 'requests.jsonl': readFileSync(file, 'utf8') },
    );
    await expect(broken.examples.prune()).rejects.toThrow(/The source "away" is failed/);
  });

  it('need a file and a model', async () => {
    const { examples } = await open({ retrieval: {} });
    await expect(examples.plan()).rejects.toThrow(/retrieval: \{ examples:/);
    const { examples: unnamed } = await open({ retrieval: { examples: './requests.jsonl' } });
    await expect(unnamed.plan()).rejects.toThrow(/retrieval: \{ enrich: NAME \}/);
    const misspelt = { retrieval: { examples: './requests.jsonl', enrich: 'writr' } };
    const { examples: unknown, file, crib } = await open(misspelt);
    expect(crib.warnings().join()).toContain('retrieval.enrich: executors.agent.models has no "writr".');
    await expect(unknown.plan()).rejects.toThrow(/has no "writr".* Did you mean "writer"/);
    expect(existsSync(file)).toBe(false);
    await expect((await createCrib()).server.examples.plan()).rejects.toThrow(/need a configuration/);
  });

  it('end with the signal, and keep what came before', async () => {
    const stop = new AbortController();
    const { write, lines } = await open();
    model.play((asked) => (toolOf(asked) === 'refund' ? answer(GOOD) : { raw: () => stop.abort() }));
    expect(await write({ signal: stop.signal })).toMatchObject({ stopped: 'It was interrupted.' });
    expect(lines().length).toBeLessThan(3);
  });
});
