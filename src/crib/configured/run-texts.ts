import { expandVariables, lookUpSecret, type VariableSurroundings } from '../../config/variables.ts';
import type { ReadRunText } from '../../core/ports/runs.ts';
import { readTemplate } from '../../specs/template.ts';
import type { SecretTemplatePart } from '../../system/secrets/secret-template.ts';

/** How the texts of runs are read in specs that lie here, and in those that come from elsewhere. */
export interface RunTexts {
  /** Fills in variables; each secret that is named must be declared. */
  readonly local: ReadRunText;
  /** Fills in nothing: what a stranger wrote must not read the environment, and may name only secrets that the owner granted. */
  remote(grant: SecretGrant): ReadRunText;
}

/** The secrets that the tools of a source may name. */
interface SecretGrant {
  readonly source: string;
  readonly secrets: readonly string[];
}

/** Reads texts of runs against the environment and the secrets that are declared. */
export function createRunTexts(surroundings: Pick<VariableSurroundings, 'env' | 'secretNames'>): RunTexts {
  return {
    local(text) {
      const { parts, mistakes } = expandVariables(text, surroundings);
      return mistakes.length > 0 ? { mistakes } : toRunText(parts);
    },
    remote: (grant) => (text) => {
      // Read as executors read it: no other reading may find a secret that this one does not.
      const secrets = readTemplate(text).parts.flatMap((part) =>
        typeof part === 'object' && 'secret' in part ? part.secret : [],
      );
      const mistakes = secrets.flatMap((secret) => mistakesIn(secret, grant, surroundings.secretNames));
      return mistakes.length > 0 ? { mistakes } : { text };
    },
  };
}

function mistakesIn(
  secret: string,
  { source, secrets }: SecretGrant,
  declared: ReadonlySet<string>,
): readonly string[] {
  const found = lookUpSecret(secret, declared);
  if ('mistake' in found) return [found.mistake];
  if (secrets.includes(secret)) return [];
  const cure = `write secrets: [${secret}] on that source to let them`;
  return [`names the secret "${secret}", which tools of the source "${source}" may not use: ${cure}.`];
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
