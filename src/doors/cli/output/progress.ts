import { paint } from './output.ts';

const PATIENCE_MS = 300;
const STEP_MS = 100;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const CLEAR_LINE = '\r\x1b[K';

/** Says on a terminal what is being waited for, if it takes long; the line is gone when the work has ended. */
export async function withProgress<T>(label: string, work: Promise<T>): Promise<T> {
  const { stderr } = process;
  if (!stderr.isTTY) return work;
  const begin = performance.now();
  let step = 0;
  const draw = () => {
    const elapsedMs = performance.now() - begin;
    if (elapsedMs < PATIENCE_MS) return;
    const frame = FRAMES[step++ % FRAMES.length] ?? '';
    stderr.write(`${CLEAR_LINE}${paint('cyan', frame, stderr)} ${label} ${Math.floor(elapsedMs / 1000)} s`);
  };
  const timer = setInterval(draw, STEP_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (step > 0) stderr.write(CLEAR_LINE);
  }
}
