import type { RowLayout } from '../row-layout.ts';
import { advance, type Code, op, toWasm, type WasmFunction } from './wasm-bytes.ts';
import { PAGE_BYTES } from './wasm-engine.ts';

/** The loops of a scan as a WebAssembly module, unrolled for the layout at hand: a row is done without an inner loop. */
export function scanProgram(layout: RowLayout): Uint8Array<ArrayBuffer> {
  return toWasm([measure(layout), collect(layout), multiply(layout)], Math.ceil(layout.chunks / PAGE_BYTES));
}

/** measure(address, count): distance of each row's signs to the request's, noted in the chunk and in the histogram. */
function measure(layout: RowLayout): WasmFunction {
  const [address, count, signs, distance] = [0, 1, 2, 3];
  const blocks = Array.from({ length: layout.signBytes / 8 }, (_, block): Code => {
    const differing = [
      ...op.get(signs),
      ...op.load64(block * 8),
      ...op.constant(layout.querySigns),
      ...op.load64(block * 8),
      ...op.xor64,
      ...op.popcount64,
    ];
    return block === 0 ? differing : [...differing, ...op.add64];
  });
  const body = [
    ...blocks.flat(),
    ...op.toInt32,
    ...op.set(distance),
    ...[...op.get(address), ...op.get(distance), ...op.store16(layout.distancesInChunk)],
    // histogram[distance]++
    ...[...op.get(distance), ...op.constant(2), ...op.shiftLeft],
    ...[...op.get(distance), ...op.constant(2), ...op.shiftLeft, ...op.load(layout.histogram)],
    ...[...op.constant(1), ...op.add, ...op.store(layout.histogram)],
    ...advance(signs, layout.signBytes),
    ...advance(address, 2),
  ];
  const start = [...op.get(address), ...op.constant(layout.signsInChunk), ...op.add, ...op.set(signs)];
  return {
    name: 'measure',
    parameters: 2,
    returns: 'nothing',
    locals: [{ count: 2, kind: 'i32' }],
    body: [...start, ...op.countDown(count, body)],
  };
}

/** collect(address, count, distance, first): numbers of the rows that are near enough; returns how many. */
function collect(layout: RowLayout): WasmFunction {
  const [address, count, distance, row, end] = [0, 1, 2, 3, 4];
  const note = [...op.get(end), ...op.get(row), ...op.store(layout.list), ...advance(end, 4)];
  const body = [
    ...[...op.get(address), ...op.load16(layout.distancesInChunk), ...op.get(distance), ...op.lessOrEqual],
    ...op.whenTrue(note),
    ...advance(address, 2),
    ...advance(row, 1),
  ];
  return {
    name: 'collect',
    parameters: 4,
    returns: 'i32',
    locals: [{ count: 1, kind: 'i32' }],
    body: [...op.countDown(count, body), ...op.get(end), ...op.constant(2), ...op.shiftRight],
  };
}

/** multiply(count): products of the request's vector with the rows whose addresses are listed. */
function multiply(layout: RowLayout): WasmFunction {
  const [count, entry, row, sum] = [0, 1, 2, 3];
  const blocks = Array.from({ length: layout.vectorBytes / 8 }, (_, block): Code => {
    const product = [
      ...op.get(row),
      ...op.loadBytes(block * 8),
      ...op.constant(layout.queryVector),
      ...op.loadVector(block * 16),
      ...op.multiplyPairs,
    ];
    return block === 0 ? product : [...product, ...op.addVectors];
  });
  const lanes = [0, 1, 2, 3].map((lane): Code => [...op.get(sum), ...op.lane(lane), ...(lane === 0 ? [] : op.add)]);
  const body = [
    ...[...op.get(entry), ...op.load(layout.list), ...op.set(row)],
    ...[...blocks.flat(), ...op.set(sum)],
    ...[...op.get(entry), ...lanes.flat(), ...op.store(layout.products)],
    ...advance(entry, 4),
  ];
  return {
    name: 'multiply',
    parameters: 1,
    returns: 'nothing',
    locals: [
      { count: 2, kind: 'i32' },
      { count: 1, kind: 'v128' },
    ],
    body: op.countDown(count, body),
  };
}
