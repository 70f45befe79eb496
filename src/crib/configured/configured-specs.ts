import type { DatabaseSourceConfig, FilesSourceConfig, HttpSourceConfig } from '../../config/types/sources.ts';
import { isRecord } from '../../core/json.ts';
import type { Source } from '../../core/source.ts';
import { describePython } from '../../kinds/python/source/described-source.ts';
import { hostOf, type SecretText, secretsIn } from '../../system/secrets/secret-template.ts';
import type { LoadedConfig } from '../config/loaded-config.ts';
import type { SourceSurroundings } from './configured-sources.ts';
import { keptList } from './list-cache.ts';
import { createRunTexts, type RunTexts } from './run-texts.ts';

/** The source of spec files. */
export async function filesOf(
  name: string,
  config: FilesSourceConfig,
  surroundings: SourceSurroundings,
): Promise<Source> {
  const { files } = await import('../../sources/files.ts');
  const { watch, store, python } = surroundings;
  // Whatever copies every spec parses every line, so that an index would save nothing.
  const isCopied = config.trust === false || Boolean(config.prefix) || config.settings !== undefined;
  const source = files({
    name,
    path: config.files,
    watch,
    readRunText: runTextsOf(surroundings).local,
    ...(!isCopied && { indexes: store.indexes }),
  });
  return describePython(source, { workers: python, kept: keptList(`${name}:python`, '', store) });
}

/** The source of the specs that stand in the configuration itself. One that was taken out ends at once. */
export async function inlineOf(loaded: LoadedConfig, surroundings: SourceSurroundings): Promise<Source> {
  const { inline } = await import('../../sources/inline.ts');
  const placeOf = (index: number) => {
    const line = loaded.locate(['tools', index])?.line;
    return loaded.file === undefined ? `tools[${index}]` : `${loaded.file}, line ${line}, tools[${index}]`;
  };
  const { folder, python, store } = surroundings;
  const specs = loaded.config.tools ?? [];
  const names = new Set(specs.map((spec) => (isRecord(spec) ? spec.name : undefined)));
  const source = inline({ specs, folder, placeOf, readRunText: runTextsOf(surroundings).local });
  return {
    ...describePython(source, { workers: python, kept: keptList('inline:python', '', store) }),
    adjust: (shown) => shown.filter(({ name }) => names.has(name)),
  };
}

/** Secrets of the address and the headers are filled in for each request, for the host of the address and no other. */
export async function fetched(
  name: string,
  { http: url, headers = {}, refreshMs, initTimeoutMs, secrets: granted }: HttpSourceConfig,
  surroundings: SourceSurroundings,
): Promise<Source> {
  const { http } = await import('../../sources/http.ts');
  const { secrets } = surroundings;
  const fill = (text: SecretText) => secrets.fill(text, { host: hostOf(url) });
  const filled = async () =>
    Object.fromEntries(
      await Promise.all(Object.entries(headers).map(async ([key, text]) => [key, await fill(text)] as const)),
    );
  return http({
    name,
    url: typeof url === 'string' ? url : () => fill(url),
    headers: filled,
    readRunText: runTextsOf(surroundings).remote({ source: name, secrets: namesOf(granted) }),
    kept: keptList(name, url, surroundings.store),
    ...(refreshMs !== undefined && { refreshMs }),
    ...(initTimeoutMs !== undefined && { timeoutMs: initTimeoutMs }),
  });
}

/** The source of the specs of the store. */
export async function stored(
  name: string,
  { refreshMs, secrets: granted }: DatabaseSourceConfig,
  surroundings: SourceSurroundings,
): Promise<Source> {
  const { database } = await import('../../sources/database.ts');
  const { specs } = surroundings.store;
  const readRunText = runTextsOf(surroundings).remote({ source: name, secrets: namesOf(granted) });
  return database({ name, specs, readRunText, ...(refreshMs !== undefined && { refreshMs }) });
}

/** The names of secrets that an entry grants. */
function namesOf(granted: DatabaseSourceConfig['secrets'] = []): readonly string[] {
  return [granted].flat().flatMap(secretsIn);
}

function runTextsOf({ env, secrets }: SourceSurroundings): RunTexts {
  return createRunTexts({ env, secretNames: new Set(secrets.names) });
}
