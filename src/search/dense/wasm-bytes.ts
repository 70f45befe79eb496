/** One or more instructions as bytes. */
export type Code = readonly number[];

/** A function of a module: its parameters (numbers), its local variables and its body. */
export interface WasmFunction {
  readonly name: string;
  readonly parameters: number;
  readonly returns: 'i32' | 'nothing';
  /** Local variables after the parameters, by type. */
  readonly locals: readonly { readonly count: number; readonly kind: 'i32' | 'i64' | 'v128' }[];
  readonly body: Code;
}

const KINDS = { i32: 0x7f, i64: 0x7e, v128: 0x7b } as const;

/** Encodes an unsigned number (LEB128). */
function unsigned(value: number): Code {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

/** Encodes a signed number (LEB128); the highest of the last seven bits is the sign. */
function signed(value: number): Code {
  const bytes: number[] = [];
  let rest = value;
  for (; rest < -64 || rest > 63; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest & 0x7f];
}

/** The instructions used by the scans. */
export const op = {
  get: (local: number): Code => [0x20, ...unsigned(local)],
  set: (local: number): Code => [0x21, ...unsigned(local)],
  constant: (value: number): Code => [0x41, ...signed(value)],
  add: [0x6a],
  shiftLeft: [0x74],
  shiftRight: [0x76],
  lessOrEqual: [0x4d],
  load: (offset: number): Code => [0x28, 2, ...unsigned(offset)],
  load16: (offset: number): Code => [0x2f, 1, ...unsigned(offset)],
  store: (offset: number): Code => [0x36, 2, ...unsigned(offset)],
  store16: (offset: number): Code => [0x3b, 1, ...unsigned(offset)],
  load64: (offset: number): Code => [0x29, 3, ...unsigned(offset)],
  xor64: [0x85],
  popcount64: [0x7b],
  add64: [0x7c],
  toInt32: [0xa7],
  /** Eight bytes, each extended to a 16-bit number. */
  loadBytes: (offset: number): Code => [0xfd, 0x01, 3, ...unsigned(offset)],
  loadVector: (offset: number): Code => [0xfd, 0x00, 4, ...unsigned(offset)],
  /** Products of 16-bit numbers, added in pairs. */
  multiplyPairs: [0xfd, 0xba, 0x01],
  addVectors: [0xfd, 0xae, 0x01],
  /** The lower and the upper four of eight 16-bit numbers, extended to 32 bits. */
  widenLower: [0xfd, 0xa7, 0x01],
  widenUpper: [0xfd, 0xa8, 0x01],
  /** The lower two 32-bit numbers as 64-bit floats. */
  toFloats: [0xfd, 0xfe, 0x01],
  /** The upper two of four 32-bit numbers, duplicated. */
  repeatUpper: [0xfd, 0x0d, ...[0, 1].flatMap(() => [8, 9, 10, 11, 12, 13, 14, 15])],
  multiplyFloats: [0xfd, 0xf2, 0x01],
  addFloats: [0xfd, 0xf0, 0x01],
  /** A 64-bit float, duplicated. */
  loadTwice: (offset: number): Code => [0xfd, 0x0a, 3, ...unsigned(offset)],
  storeVector: (offset: number): Code => [0xfd, 0x0b, 4, ...unsigned(offset)],
  lane: (index: number): Code => [0xfd, 0x1b, index],
  whenTrue: (body: Code): Code => [0x04, 0x40, ...body, 0x0b],
  /** Runs the body and decrements the variable until it is zero. */
  countDown: (local: number, body: Code): Code => [
    ...[0x02, 0x40, 0x20, ...unsigned(local), 0x45, 0x0d, 0x00],
    ...[0x03, 0x40, ...body, 0x20, ...unsigned(local), 0x41, 0x01, 0x6b, 0x22, ...unsigned(local), 0x0d, 0x00, 0x0b],
    0x0b,
  ],
} as const;

/** Adds a constant to a variable. */
export function advance(local: number, by: number): Code {
  return [...op.get(local), ...op.constant(by), ...op.add, ...op.set(local)];
}

/** Creates the bytes of a module that has its own memory and exports it with its functions. */
export function toWasm(functions: readonly WasmFunction[], memoryPages: number): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ parameters, returns }) => [
    ...[0x60, ...unsigned(parameters), ...Array<number>(parameters).fill(KINDS.i32)],
    ...(returns === 'i32' ? [1, KINDS.i32] : [0]),
  ]);
  const exports = functions.map(({ name }, index) => [...text(name), 0x00, ...unsigned(index)]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, types),
    ...section(
      3,
      functions.map((_, index) => unsigned(index)),
    ),
    ...section(5, [[0x00, ...unsigned(memoryPages)]]),
    ...section(7, [[...text('memory'), 0x02, 0x00], ...exports]),
    ...section(10, functions.map(toBody)),
  ]);
}

function toBody({ locals, body }: WasmFunction): Code {
  const declared = locals.flatMap(({ count, kind }) => [...unsigned(count), KINDS[kind]]);
  return sized([...unsigned(locals.length), ...declared, ...body, 0x0b]);
}

function section(id: number, entries: readonly Code[]): Code {
  return [id, ...sized([...unsigned(entries.length), ...entries.flat()])];
}

function text(value: string): Code {
  return sized([...new TextEncoder().encode(value)]);
}

function sized(bytes: Code): Code {
  return [...unsigned(bytes.length), ...bytes];
}

/** The exports of a module with its own memory. */
export interface WasmExports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
}

/** The part of WebAssembly that is used here. */
interface WasmEngine {
  validate(bytes: Uint8Array): boolean;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: WasmExports };
}

export const PAGE_BYTES = 65_536;

/** Instantiates a module; undefined if WebAssembly or an instruction it uses is missing. `T` is the type of its exports. */
export function runWasm<T extends WasmExports>(bytes: Uint8Array): T | undefined {
  const { WebAssembly: engine } = globalThis as { readonly WebAssembly?: WasmEngine }; // the compiler options include no platform types
  if (engine?.validate(bytes) !== true) return undefined;
  return new engine.Instance(new engine.Module(bytes)).exports as T; // the author of the bytes knows their exports
}
