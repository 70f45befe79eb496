import { describe, expect, it } from 'vitest';
import { createLineFeed, createOutputTail } from '../../../src/system/processes/child-output.ts';
import { manualClock } from '../../crib/manual-clock.ts';

function feed() {
  const clock = manualClock();
  const told: (readonly string[])[] = [];
  const { add, end } = createLineFeed((lines) => told.push(lines), clock);
  return { clock, told, end, add: (text: string) => add(Buffer.from(text)), addBytes: add };
}

describe('lines of the output of a child', () => {
  it('are reported when they are complete, all lines of a chunk together', () => {
    const { add, told } = feed();
    add('one\ntwo\nth');
    expect(told).toEqual([['one', 'two']]);
    add('ree\r\n\n');
    expect(told.slice(1)).toEqual([['three', '']]);
  });

  it('end at a carriage return as well, but not twice if a newline follows in the next chunk', () => {
    const { add, told } = feed();
    add('10 %\r20 %\r');
    add('\ndone\n');
    expect(told).toEqual([['10 %'], ['20 %', 'done']]);
  });

  it('a question without a line break is reported after a pause', () => {
    const { add, told, clock } = feed();
    add('Your na');
    clock.advance(249);
    add('me? ');
    clock.advance(249);
    expect(told).toEqual([]);
    clock.advance(1);
    expect(told).toEqual([['Your name? ']]);
    clock.advance(1000);
    add('Ann\n');
    expect(told).toEqual([['Your name? '], ['Ann']]);
  });

  it('characters in two chunks stay intact', () => {
    const { addBytes, told } = feed();
    const bytes = Buffer.from('für\n');
    addBytes(bytes.subarray(0, 2));
    addBytes(bytes.subarray(2));
    expect(told).toEqual([['für']]);
  });

  it('an endless line is reported in parts, and the last one at the end', () => {
    const { add, told, end, clock } = feed();
    add('x'.repeat(20_000));
    expect(told).toEqual([['x'.repeat(20_000)]]);
    add('rest\r');
    end();
    clock.advance(1000);
    expect(told.slice(1)).toEqual([['rest']]);
  });

  it('a tail reports every chunk until it is stopped', () => {
    const tail = createOutputTail(10);
    const told: string[] = [];
    const stop = tail.onAdd((piece) => told.push(Buffer.from(piece).toString()));
    tail.add(Buffer.from('more than ten bytes'));
    stop();
    tail.add(Buffer.from('!'));
    expect(told).toEqual(['more than ten bytes']);
    expect(tail.text()).toBe(' ten bytes!'.slice(1));
  });
});
