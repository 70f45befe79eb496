import * as variants from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import { GUEST_PRELUDE } from './guest-prelude.ts';
import type { CompiledMachine, ScriptLimits } from './script-messages.ts';

const PAGES_PER_MB = 16;
/** The memory that the WebAssembly module needs at least. */
const FIRST_PAGES = 256;

export type { QuickJSContext, QuickJSHandle, QuickJSRuntime };

/** A machine that has no script yet. */
export interface EmptyMachine {
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
  readonly prelude: QuickJSHandle;
}

/** The limits that a machine has from its beginning. */
export type MachineSize = Pick<ScriptLimits, 'memoryMb' | 'stackKb'>;

/** Creates a machine with a memory of its own. */
export async function prepareMachine(wasmModule: CompiledMachine, size: MachineSize): Promise<EmptyMachine> {
  const { Memory } = (globalThis as unknown as { readonly WebAssembly: WasmMemories }).WebAssembly; // the compiler options include no platform types
  const maximum = Math.max(FIRST_PAGES, size.memoryMb * PAGES_PER_MB);
  // setMemoryLimit of QuickJS has no effect, so the memory itself is limited.
  const wasmMemory = new Memory({ initial: FIRST_PAGES, maximum });
  const quickjs = await newQuickJSWASMModuleFromVariant(
    newVariant(variantOf(variants), { wasmModule, wasmMemory } as never),
  );
  const runtime = quickjs.newRuntime();
  runtime.setMaxStackSize(size.stackKb * 1024);
  const context = runtime.newContext();
  return { runtime, context, prelude: context.unwrapResult(context.evalCode(GUEST_PRELUDE, 'prelude')) };
}

/** The part of WebAssembly that is used here. */
interface WasmMemories {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => unknown;
}

/** The default export of the package, which a bundle for CommonJS wraps once more. */
function variantOf(loaded: { readonly default: unknown }): QuickJSSyncVariant {
  const one = loaded.default as QuickJSSyncVariant | { readonly default: QuickJSSyncVariant }; // depends on who loads it
  return 'default' in one ? one.default : one;
}
