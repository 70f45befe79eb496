import { namesIn, readTemplate } from '../../specs/template.ts';
import type { HttpAuth, HttpRun } from './http-run.ts';
import { authTexts, listAuth } from './request-plan.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** What is wrong with the credentials of a run. */
export function checkAuth({ auth }: HttpRun): readonly string[] {
  return listAuth(auth).flatMap((one) => [
    ...(authTexts(one).some((text) => namesIn(readTemplate(text)).length > 0)
      ? ['its auth may hold no arguments of the call']
      : []),
    ...checkOne(one),
  ]);
}

function checkOne(auth: HttpAuth): readonly string[] {
  if ('basic' in auth && withoutSecrets(auth.basic.username).includes(':'))
    return ['the username of its auth may hold no ":"'];
  if ('apiKey' in auth && auth.apiKey.in !== 'query' && !TOKEN.test(auth.apiKey.name))
    return [`the apiKey of its auth has a name that no ${auth.apiKey.in} can have`];
  if ('clientCredentials' in auth && !isSafe(auth.clientCredentials.tokenUrl))
    return ['the tokenUrl of its auth must be an https address'];
  return [];
}

/** A secret is sent there: nobody may be able to read along. */
function isSafe(tokenUrl: string): boolean {
  const url = URL.parse(tokenUrl);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return (
    url.protocol === 'https:' ||
    (url.protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname))
  );
}

function withoutSecrets(text: string): string {
  return text.replaceAll(/\$\{secret:[^}]*\}/g, '');
}
