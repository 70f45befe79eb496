export type { ContractTest } from './executor-contract.ts';
export { executorContract } from './executor-contract.ts';
export { fakeExecutor } from './fake-executor.ts';
export type {
  BadRun,
  ContractCase,
  ExecutorSubject,
  FailingCase,
  HangingCase,
  WorkingCase,
} from './one-call.ts';
export type { SourceSubject } from './source-contract.ts';
export { sourceContract } from './source-contract.ts';
export type { TestCall, TestCallOptions } from './test-call.ts';
export { testCall, testSpec } from './test-call.ts';
