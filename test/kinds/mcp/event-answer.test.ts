import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readEventAnswer } from '../../../src/kinds/mcp/event-answer.ts';

const note = '{"jsonrpc":"2.0","method":"notifications/message"}';
const answer = '{"jsonrpc":"2.0","id":5,"result":{"word":"naïve ☃"}}';
const [BLANK, NOTE, ANSWER] = [': ping\n\n', `data: ${note}\n\n`, `event: message\ndata: ${answer}\n\n`];

/** Reads what the stream begins with, and then the rest of it. */
async function readAll(text: string, cuts: readonly number[]) {
  const bytes = Buffer.from(text);
  const places = [0, ...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b);
  const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
  const body = Readable.from(chunks.filter(({ length }) => length > 0));
  const later: unknown[] = [];
  const reading = {
    id: 5,
    tooLarge: () => new Error('too large'),
    onMessage: (message: unknown) => later.push(message),
  };
  const first = await readEventAnswer(body, reading);
  const rest = await buffer(body);
  return 'answer' in first ? { answer: first.answer, later } : { whole: Buffer.concat([first.begun, rest]).toString() };
}

it('the first event of a stream is the answer, or the whole stream is for another reader, however it is cut', async () => {
  const ends = fc.constantFrom('\n', '\r\n', '\r');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 6 }), ends, async (cuts, end) => {
      const read = (text: string) => readAll(text.replaceAll('\n', end), cuts);
      expect(await read(BLANK + ANSWER + NOTE)).toEqual({ answer: JSON.parse(answer), later: [JSON.parse(note)] });
      for (const other of [
        NOTE + ANSWER,
        ANSWER.replace('5', '6'),
        `id: 1\ndata:\n\n${ANSWER}`,
        'data: {',
        `retry: 1\n${ANSWER}`,
      ])
        expect((await read(other)).whole?.endsWith(other.replaceAll('\n', end))).toBe(true);
    }),
  );
});

it.each([
  [':\n\n', 1],
  ['data: x\r\n', 1000],
])('a stream of %j before the answer is read in time that grows with its length', async (event, pieces) => {
  const cpuOf = async (count: number) => {
    const body = new PassThrough();
    const reading = { id: 1, tooLarge: () => new Error('too large'), onMessage() {} };
    const begun = process.cpuUsage();
    const answer = readEventAnswer(body, reading);
    for (let piece = 0; piece < pieces; piece++)
      body.write(event.repeat(count / pieces).slice(0, -1)) && body.write('\n');
    body.end('\n\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
    await answer;
    const { user, system } = process.cpuUsage(begun);
    return user + system;
  };
  const [few, many] = [await cpuOf(10_000), await cpuOf(80_000)];
  expect(many).toBeLessThan(32 * few);
});
