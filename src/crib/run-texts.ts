import {
  type SecretTemplatePart,
  secretNameOf,
  splitReferences,
  type TextPiece,
} from '../runtime/secrets/secret-template.ts';
import type { ReadRunText } from '../runtime/specs/run-texts.ts';
import { expandVariables, lookUpSecret, type VariableSurroundings } from './config/variables.ts';

/** How the texts of runs are read in specs that lie here, and in those that come from elsewhere. */
export interface RunTexts {
  /** Fills in variables; each secret that is named must be declared. */
  readonly local: ReadRunText;
  /** Fills in nothing: what a stranger wrote must not read the environment. Each secret that is named must be declared. */
  readonly remote: ReadRunText;
}

/** Reads texts of runs against the environment and the secrets that are declared. */
export function createRunTexts(surroundings: Pick<VariableSurroundings, 'env' | 'secretNames'>): RunTexts {
  return {
    local(text) {
      const { parts, mistakes } = expandVariables(text, surroundings);
      return mistakes.length > 0 ? { mistakes } : toRunText(parts);
    },
    remote(text) {
      // Without a closing brace there is no reference in it, for whoever uses it neither.
      const mistakes = (splitReferences(text) ?? []).flatMap((piece) => mistakesIn(piece, surroundings.secretNames));
      return mistakes.length > 0 ? { mistakes } : { text };
    },
  };
}

function mistakesIn(piece: TextPiece, secretNames: ReadonlySet<string>): readonly string[] {
  const secret = typeof piece === 'string' ? undefined : secretNameOf(piece.reference);
  if (secret === undefined) return [];
  const found = lookUpSecret(secret, secretNames);
  return 'mistake' in found ? [found.mistake] : [];
}

/** Whoever runs the tool reads its secrets in this text; what was filled in must not look like one to them. */
function toRunText(parts: readonly SecretTemplatePart[]): ReturnType<ReadRunText> {
  let text = '';
  let plain = '';
  for (const part of parts) {
    // Joined before it is looked at: a value that ends in "$" may stand before one that begins with "{".
    if (typeof part === 'string') plain += part;
    else if (plain.endsWith('$'))
      return { mistakes: [`has a "$" right before a secret, which would hide the secret.`] };
    else {
      text += `${escaped(plain)}\${secret:${part.secret}}`;
      plain = '';
    }
  }
  return { text: text + escaped(plain) };
}

function escaped(plain: string): string {
  return plain.replaceAll('${', () => '$${');
}
