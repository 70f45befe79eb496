// @ts-check

const NAME = '^[_A-Za-z][_0-9A-Za-z]*$';

/**
 * What a run looks like: nothing else is let in.
 * @type {import('toolcrib').JsonSchema}
 */
export const RUN_SCHEMA = {
  type: 'object',
  required: ['kind', 'query'],
  properties: {
    kind: { const: 'graphql' },
    query: { type: 'string', minLength: 1, maxLength: 100_000 },
    operationName: { type: 'string', pattern: NAME },
    variables: { type: 'object', propertyNames: { pattern: NAME }, additionalProperties: { type: 'string' } },
  },
  additionalProperties: false,
};

/**
 * What the schema cannot say: whether operation and variables are those of the query, and the arguments those of the tool.
 * @param {import('toolcrib').Run} run
 * @param {import('toolcrib').ToolSpec} spec
 * @returns {readonly string[]}
 */
export function checkRun(run, spec) {
  const query = withoutTexts(String(run.query));
  const declared = new Set(Array.from(query.matchAll(/\$([_A-Za-z]\w*)\s*:/g), ([, name = '']) => name));
  return [...operationIssues(query, run.operationName), ...variableIssues(declared, run.variables, spec)];
}

/**
 * @param {string} query
 * @param {unknown} chosen
 * @returns {readonly string[]}
 */
function operationIssues(query, chosen) {
  const operations = operationsOf(query);
  const named = operations.map(({ name }) => name);
  if (operations.length === 0) return ['query holds no operation'];
  if (operations.some(({ type }) => type === 'subscription')) return ['query holds a subscription, which has no end'];
  if (chosen === undefined) return operations.length === 1 ? [] : ['query holds several operations: add operationName'];
  return named.includes(String(chosen)) ? [] : ['operationName is no operation of query'];
}

/**
 * @param {ReadonlySet<string>} declared
 * @param {unknown} variables
 * @param {import('toolcrib').ToolSpec} spec
 * @returns {readonly string[]}
 */
function variableIssues(declared, variables, spec) {
  const isArgument = (/** @type {string} */ name) => Object.hasOwn(Object(spec.input.properties), name);
  const mapping = new Map(Object.entries(variables ?? Object.fromEntries([...declared].map((name) => [name, name]))));
  return [
    ...[...mapping.keys()].filter((name) => !declared.has(name)).map((name) => `query declares no $${name}`),
    ...[...declared].filter((name) => !mapping.has(name)).map((name) => `variables lacks $${name} of query`),
    ...[...mapping].flatMap(([name, argument]) =>
      isArgument(argument) ? [] : [`no argument "${argument}" of the tool can fill $${name}`],
    ),
  ];
}

/**
 * The operations of a document: what stands outside of all braces.
 * @param {string} query
 */
function operationsOf(query) {
  const outside = withoutBraces(query).replaceAll(/\([^()]*\)/g, ' ');
  const named = outside.matchAll(/\b(query|mutation|subscription)\b(?:\s+([_A-Za-z]\w*))?/g);
  const found = Array.from(named, ([, type, name]) => ({ type, name }));
  return found.length === 0 && /^[\s,]*\{/.test(query) ? [{ type: 'query', name: undefined }] : found;
}

/** @param {string} query */
function withoutBraces(query) {
  let depth = 0;
  let outside = '';
  for (const character of query) {
    if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    else if (depth === 0) outside += character;
  }
  return outside;
}

/**
 * The query without comments and texts, in which anything may stand.
 * @param {string} query
 */
function withoutTexts(query) {
  return query.replaceAll(/"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*/g, ' ');
}
