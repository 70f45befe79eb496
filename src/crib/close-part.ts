import { messageOf } from '../core/tool-error.ts';

/** Whatever may have something to close. */
interface Closable {
  readonly name?: string;
  readonly kind?: string;
  close?(): Promise<void>;
}

/** Closes a part; one that cannot be closed must not keep the others open. */
export async function closePart(part: Closable, warn: (message: string) => void): Promise<void> {
  try {
    await part.close?.();
  } catch (cause) {
    warn(`Closing ${part.name ?? part.kind} failed: ${messageOf(cause)}`);
  }
}
