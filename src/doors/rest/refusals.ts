import { ToolcribError } from '../../core/tool-error.ts';
import { type Answer, refuse } from './answers.ts';

/** What the crib throws at who asks for what cannot be meant, in words that may be shown. */
const OF_THE_ASKER = /^(invalid|unknown)_(option|criterion|selector|key|spec|input)$/;

/** What a thrown error says to who asked; undefined for one that is nobody's business. */
export function refusalOf(cause: unknown): Answer | undefined {
  if (!(cause instanceof ToolcribError)) return undefined;
  const { code, message } = cause;
  if (OF_THE_ASKER.test(code)) return refuse(400, { code: 'invalid_input', message, retryable: false });
  switch (code) {
    case 'unknown_profile':
      return refuse(404, { code, message, retryable: false });
    case 'not_found':
    case 'not_counted':
      return refuse(404, { code: 'not_found', message, retryable: false });
    case 'not_available':
      return refuse(501, { code, message, retryable: false });
    case 'store_unavailable':
      return STORE_GONE;
    default:
      return undefined;
  }
}

const STORE_GONE = refuse(503, {
  code: 'unavailable',
  message: 'The store does not answer at the moment; try again later.',
  retryable: true,
});

/** What is said where something went wrong that should not have. */
export const INTERNAL: Answer = refuse(500, {
  code: 'internal',
  message: 'Something went wrong here that should not have.',
  retryable: false,
});
