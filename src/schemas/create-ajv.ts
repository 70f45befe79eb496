import { createRequire } from 'node:module';
import type { Ajv, ErrorObject, Options } from 'ajv';
import { canonicalJson } from '../core/json.ts';
import type { LinearPatterns } from './linear-pattern.ts';
import type { Dialect } from './schema-dialect.ts';
import { WORK_KEYWORD } from './schema-keywords.ts';
import type { WorkLimit } from './work-limit.ts';

/** What the checks of one Ajv draw on. */
export interface AjvOptions {
  readonly work: WorkLimit;
  readonly patterns: LinearPatterns;
}

/** What an Ajv is made for; it cannot be changed later. */
export interface AjvFlavour {
  readonly dialect: Dialect;
  readonly namesInherited: boolean;
  readonly errors: 'first' | 'all';
}

const REF_UNITS = 50;

/** An Ajv that logs nothing, fetches nothing and runs no pattern of its own. */
export function createAjv(flavour: AjvFlavour, { work, patterns }: AjvOptions): Ajv {
  const load = createRequire(import.meta.url);
  const options: Options = {
    allErrors: flavour.errors === 'all',
    ownProperties: flavour.namesInherited,
    strict: false,
    strictNumbers: true,
    useDefaults: true,
    validateSchema: false,
    // Each reference is a call: inlined, a small schema can grow without bounds.
    inlineRefs: false,
    verbose: true,
    logger: false,
    // Making the code takes half the time; running it takes the same.
    code: {
      optimize: false,
      regExp: Object.assign((pattern: string) => requirePattern(patterns, pattern), { code: 'linearPattern' }),
    },
  };
  const ajv = createOfDialect(flavour.dialect, options, load);
  const { default: addFormats } = load('ajv-formats') as typeof import('ajv-formats'); // what this package exports
  addFormats.default(ajv);
  // The one of ajv-formats takes quadratic time, and refuses localhost.
  ajv.addFormat('url', (text: string) => /^(?:https?|ftp):\/\//i.test(text) && URL.canParse(text));
  addUniqueItems(ajv);
  addWork(ajv, work);
  return ajv;
}

// Each class is named before it is constructed: TypeScript 7.0 drops the parentheses of `new (load() as T).Name()`.
function createOfDialect(dialect: Dialect, options: Options, load: NodeJS.Require): Ajv {
  switch (dialect) {
    case 'draft-07': {
      const { Ajv } = load('ajv') as typeof import('ajv'); // what this package exports
      return new Ajv(options);
    }
    case '2019-09': {
      const { Ajv2019 } = load('ajv/dist/2019.js') as typeof import('ajv/dist/2019.js'); // likewise
      return new Ajv2019(options);
    }
    case '2020-12': {
      const { Ajv2020 } = load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js'); // likewise
      return new Ajv2020(options);
    }
  }
}

function requirePattern(patterns: LinearPatterns, pattern: string): Exclude<ReturnType<LinearPatterns>, string> {
  const found = patterns(pattern);
  if (typeof found === 'string') throw new Error(`pattern "${pattern}" ${found}`);
  return found;
}

// Ajv compares every item with every other; by their JSON it takes one pass.
function addUniqueItems(ajv: Ajv): void {
  const uniqueItems: { (wanted: boolean, items: readonly unknown[]): boolean; errors?: Partial<ErrorObject>[] } = (
    wanted,
    items,
  ) => {
    if (!wanted) return true;
    const seen = new Map<string, number>();
    for (const [index, item] of items.entries()) {
      const text = canonicalJson(item);
      const twin = seen.get(text);
      if (twin !== undefined) {
        uniqueItems.errors = [{ keyword: 'uniqueItems', params: { i: index, j: twin } }];
        return false;
      }
      seen.set(text, index);
    }
    return true;
  };
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: uniqueItems });
}

// A schema without references does no more than its own size for every value. References can multiply that without
// bounds (anyOf of two references, thirty levels deep), so each costs. Below `contains` Ajv copies all errors so far
// at every item that fails, hence the square.
function addWork(ajv: Ajv, work: WorkLimit): void {
  ajv.addKeyword({
    keyword: WORK_KEYWORD,
    before: '$ref',
    schemaType: 'string',
    errors: false,
    validate: (place: string, data: unknown) => {
      work.spend(REF_UNITS);
      if (place === 'contains' && Array.isArray(data)) work.spend(data.length ** 2 / 10);
      return true;
    },
  });
}
