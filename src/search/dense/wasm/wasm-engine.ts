/** What a module that has its own memory exports. */
export interface WasmExports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
}

/** What we use of WebAssembly. */
interface WasmEngine {
  validate(bytes: Uint8Array): boolean;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: WasmExports };
}

export const PAGE_BYTES = 65_536;

/** A running module; undefined where WebAssembly or an instruction it uses is missing. `T` is what its bytes export. */
export function runWasm<T extends WasmExports>(bytes: Uint8Array): T | undefined {
  const { WebAssembly: engine } = globalThis as { readonly WebAssembly?: WasmEngine }; // the compiler knows no platform
  if (engine?.validate(bytes) !== true) return undefined;
  return new engine.Instance(new engine.Module(bytes)).exports as T; // whoever wrote the bytes knows what they export
}
