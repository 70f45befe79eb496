/** Does `work` every `delayMs`, counted from the end of the last time; keeps no process alive. Returns how to stop. */
export function repeat(delayMs: number, work: () => Promise<unknown>): () => void {
  let timer: NodeJS.Timeout;
  let isStopped = false;
  const wait = (): void => {
    if (!isStopped) timer = setTimeout(() => void work().then(wait, wait), delayMs).unref();
  };
  wait();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
