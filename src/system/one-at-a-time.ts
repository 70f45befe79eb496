/**
 * Runs `work` when asked, never twice at once. Whoever asks while it runs gets the run after that one, shared with all
 * others who do: it begins after they asked, so it sees what they saw.
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const run = (): Promise<void> => {
    const begun = work().finally(() => {
      if (running === begun) running = undefined;
    });
    running = begun;
    return begun;
  };
  return () => {
    if (running === undefined) return run();
    next ??= running.then(again, again);
    return next;
  };
  function again(): Promise<void> {
    next = undefined;
    return run();
  }
}
