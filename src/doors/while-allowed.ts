/** The time between two checks of an open stream. */
const RECHECK_MS = 2000;

/** Checks at intervals whether the reader of an open stream may still read it, and calls `end` once it may not. A check that cannot be made counts as no. Returns a function that stops the checks. */
function whileAllowed(isAllowed: () => Promise<boolean>, end: () => void, everyMs = RECHECK_MS): () => void {
  let isChecking = false;
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    clearInterval(timer);
  };
  const check = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    const isStill = await isAllowed().catch(() => false);
    isChecking = false;
    if (isStill || isStopped) return; // the stream may have ended during the check
    stop();
    end();
  };
  const timer = setInterval(check, everyMs).unref();
  return stop;
}

/** The answer, whose stream ends once its reader may no longer read it. */
export function endWhenForbidden(response: Response, isAllowed: () => Promise<boolean>, everyMs?: number): Response {
  const { body, status, headers } = response;
  if (body === null) return response;
  const reader = body.getReader();
  let isOver = false;
  let stop = (): void => {};
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (): void => {
        isOver = true;
        void reader.cancel();
        controller.close();
      };
      stop = whileAllowed(isAllowed, end, everyMs);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (isOver) return;
      if (!done) return controller.enqueue(value);
      stop();
      controller.close();
    },
    async cancel(reason) {
      isOver = true;
      stop();
      await reader.cancel(reason);
    },
  });
  return new Response(stream, { status, headers });
}
