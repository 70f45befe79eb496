/** The time between two checks of an open stream. */
const RECHECK_MS = 2000;

/** Checks at intervals whether the reader of an open stream may still read it, and calls `end` once it may not. A check that cannot be made counts as no. Returns a function that stops the checks. */
function whileAllowed(isAllowed: () => Promise<boolean>, end: () => void, everyMs = RECHECK_MS): () => void {
  let isChecking = false;
  const check = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    const isStill = await isAllowed().catch(() => false);
    isChecking = false;
    if (isStill) return;
    clearInterval(timer);
    end();
  };
  const timer = setInterval(check, everyMs).unref();
  return () => clearInterval(timer);
}

/** The answer, whose stream ends once its reader may no longer read it. */
export function endWhenForbidden(response: Response, isAllowed: () => Promise<boolean>, everyMs?: number): Response {
  const { body, status, headers } = response;
  if (body === null) return response;
  const reader = body.getReader();
  let stop = (): void => {};
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (): void => {
        void reader.cancel();
        controller.close();
      };
      stop = whileAllowed(isAllowed, end, everyMs);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value);
      stop();
      if (controller.desiredSize !== null) controller.close();
    },
    async cancel(reason) {
      stop();
      await reader.cancel(reason);
    },
  });
  return new Response(stream, { status, headers });
}
