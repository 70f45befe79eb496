import type { Executor } from '../../core/executor.ts';
import { isRecord } from '../../core/json.ts';
import { didYouMean } from '../../core/read-options.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { type ToolSpec, WITHHELD } from '../../core/tool-spec.ts';
import { argumentsOf } from '../../schemas/schema-mentions.ts';
import { namesIn, readTemplate } from '../../specs/template.ts';
import { hostChoices, readAddress } from './address.ts';
import type { HttpClient, HttpPorts } from './http-client.ts';
import { HTTP_METHODS, HTTP_RUN_SCHEMA, type HttpAuth, type HttpRun } from './http-run.ts';
import { readSelect } from './read-answer.ts';
import { authTexts, listAuth, templatesOf } from './request-plan.ts';

/** Runs tools that are HTTP requests. The client is loaded lazily. */
export function httpExecutor(ports: HttpPorts): Executor {
  let client: HttpClient | undefined;
  let isClosed = false;
  const load = async (): Promise<HttpClient> => {
    const { createHttpClient } = await import('./http-client.ts');
    client ??= createHttpClient(ports);
    if (isClosed) client.close(); // while it was being loaded
    return client;
  };
  return {
    kind: 'http',
    runSchema: HTTP_RUN_SCHEMA,
    check: (run, spec) => checkHttpRun(run as HttpRun, spec), // the schema was checked first
    async execute(call, run) {
      return (client ?? (await load())).send(call, run as HttpRun); // checked when the spec was loaded
    },
    async close() {
      isClosed = true;
      client?.close();
    },
  };
}

/** Problems of a run that its schema cannot express; a spec with any of them is rejected. */
function checkHttpRun(run: HttpRun, spec: ToolSpec): readonly string[] {
  return [
    ...(HTTP_METHODS.includes((run.method ?? 'GET').toUpperCase())
      ? []
      : [`its method must be one of ${HTTP_METHODS.join(', ')}`]),
    ...checkOrigin(run, spec),
    ...readAddress(run).mistakes.map((mistake) => `its url ${mistake}`),
    ...checkTexts(run),
    ...checkNames(run, spec),
    ...checkHeaders(run),
    ...checkBody(run),
    ...checkAuth(run),
    ...(run.select !== undefined && readSelect(run.select) === undefined
      ? ['its select is neither a JSON pointer (/items/0) nor a path (items[*].id)']
      : []),
  ];
}

function checkOrigin(run: HttpRun, spec: ToolSpec): readonly string[] {
  const { url, baseUrl } = run;
  if (baseUrl !== undefined && /^[a-z][a-z+.-]*:/i.test(url)) return ['its url must be a path, since it has a baseUrl'];
  if (baseUrl !== undefined && /[?#]/.test(baseUrl)) return ['its baseUrl must not contain "?" or "#"'];
  const { parts } = readAddress(run).origin;
  if (parts.length === 0)
    return [`its ${baseUrl === undefined ? 'url' : 'baseUrl'} must begin with http:// or https:// and a host`];
  if (parts.some((part) => typeof part === 'object' && 'secret' in part)) return ['its host must not be a secret'];
  const open = namesIn({ parts, mistakes: [] }).filter((name) => hostChoices(spec, name) === undefined);
  if (open.length > 0)
    return [`its host must not be an argument: {${open[0]}} could send the call anywhere; list its values in an enum`];
  const sample = URL.parse(parts.map((part) => (typeof part === 'string' ? part : 'x')).join(''));
  if (sample === null) return ['its url is not a valid URL'];
  return sample.username !== '' || sample.password !== ''
    ? ['its url contains a password; write it as auth: { basic: ... }']
    : [];
}

function checkTexts(run: HttpRun): readonly string[] {
  const { url: _url, baseUrl: _baseUrl, ...rest } = run; // readAddress reports the mistakes of the address
  const mistakes = templatesOf({ ...rest, url: '' }).flatMap((template) => template.mistakes);
  return [...new Set(mistakes)].map((mistake) => `a text of its run ${mistake}`);
}

/** Reports placeholders that no argument can fill. */
function checkNames(run: HttpRun, spec: ToolSpec): readonly string[] {
  const known = knownArguments(run, spec);
  if (known === undefined) return [];
  const names = new Set(templatesOf(run).flatMap(namesIn));
  const unknown = [...names].filter((name) => !known.has(name));
  return unknown.map((name) => {
    const guess = didYouMean(name, known);
    return `{${name}} is not an argument of its input${guess === '' ? '' : `.${guess}`}`;
  });
}

function knownArguments(run: HttpRun, spec: ToolSpec): ReadonlySet<string> | undefined {
  try {
    return argumentsOf(run[WITHHELD]?.input ?? spec.input);
  } catch (cause) {
    if (cause instanceof ToolcribError) return undefined; // the arguments are behind a reference
    throw cause;
  }
}

/** Headers that the transport sets itself. */
const NOT_FOR_RUNS = [
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

function checkHeaders({ headers = {}, bodyType }: HttpRun): readonly string[] {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const wrong = names.filter((name) => NOT_FOR_RUNS.includes(name));
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  const cookie = Object.entries(headers).find(([name]) => name.toLowerCase() === 'cookie')?.[1];
  const isOpenCookie = cookie !== undefined && namesIn(readTemplate(String(cookie))).length > 0;
  return [
    ...wrong.map((name) => `the header "${name}" cannot be set`),
    ...twice.map((name) => `the header "${name}" is set twice`),
    ...(isOpenCookie ? ['arguments in cookies belong under cookies, not in a header'] : []),
    ...(bodyType === 'multipart' && names.includes('content-type')
      ? ['the content type of a multipart body cannot be set']
      : []),
  ];
}

function checkBody({ body, bodyType }: HttpRun): readonly string[] {
  if (bodyType === undefined || bodyType === 'json') return [];
  if (body === undefined) return ['it has a bodyType but no body'];
  if (bodyType === 'text' || bodyType === 'base64')
    return typeof body === 'string' ? [] : [`its body must be a text, since it is sent as ${bodyType}`];
  if (!isRecord(body)) return [`its body must be an object, since it is sent as ${bodyType}`];
  const isGood = bodyType === 'form' ? isParameter : isPart;
  const bad = Object.entries(body).find(([, member]) => !isGood(member));
  if (bad === undefined) return [];
  const shape =
    bodyType === 'form'
      ? 'a text, a list, or { value, style, explode }'
      : 'a text, or { value, encoding, filename, contentType }';
  return [`"${bad[0]}" of its body must be ${shape}`];
}

function isParameter(member: unknown): boolean {
  if (Array.isArray(member)) return member.every(isPlain);
  if (!isRecord(member)) return isPlain(member);
  const { value, style = 'form', explode = true, ...rest } = member;
  const isKnown = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject', 'json'].some((known) => known === style);
  const isValue = isPlain(value) || (Array.isArray(value) && value.every(isPlain));
  return isKnown && isValue && typeof explode === 'boolean' && Object.keys(rest).length === 0;
}

function isPart(member: unknown): boolean {
  if (!isRecord(member)) return isPlain(member);
  const { value, encoding = 'text', filename = '', contentType = '', ...rest } = member;
  const isKnown = ['text', 'base64', 'json'].some((known) => known === encoding);
  const areTexts = typeof filename === 'string' && typeof contentType === 'string';
  return isKnown && isPlain(value) && areTexts && Object.keys(rest).length === 0;
}

function isPlain(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function checkAuth({ auth }: HttpRun): readonly string[] {
  return listAuth(auth).flatMap((one) => [
    ...(authTexts(one).some((text) => namesIn(readTemplate(text)).length > 0)
      ? ['its auth must not contain arguments of the call']
      : []),
    ...checkOne(one),
  ]);
}

function checkOne(auth: HttpAuth): readonly string[] {
  if ('basic' in auth && withoutSecrets(auth.basic.username).includes(':'))
    return ['the username of its auth must not contain ":"'];
  if ('apiKey' in auth && auth.apiKey.in !== 'query' && !TOKEN.test(auth.apiKey.name))
    return [`the apiKey of its auth has a name that is not valid for a ${auth.apiKey.in}`];
  if ('clientCredentials' in auth && !isSafe(auth.clientCredentials.tokenUrl))
    return ['the tokenUrl of its auth must be an https address'];
  return [];
}

/** True if the secret is sent encrypted, or only on this machine. */
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
