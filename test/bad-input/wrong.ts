/** A value of the wrong type, as callers in plain JavaScript pass it. */
export function wrong(value: unknown): never {
  return value as never; // being wrong is the point
}

/** The unhandled rejections while `work` ran. No other listener gets them meanwhile, so that one test fails and not the whole run. */
export async function unhandledDuring(work: () => unknown): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  const note = (reason: unknown) => seen.push(reason);
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', note);
  try {
    await work();
    // Node tells about a rejection when the microtasks have run dry.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  } finally {
    process.off('unhandledRejection', note);
    for (const listener of others) process.on('unhandledRejection', listener);
  }
  return seen;
}
