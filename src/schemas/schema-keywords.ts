/** Our own keyword, put where a schema can be reached again and again: it charges work. */
export const WORK_KEYWORD = 'toolcrib:work';

/** Keywords that hold a schema or a list of schemas. What is not named here or below is data. */
export const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  ...['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties'],
  ...['unevaluatedProperties', 'propertyNames', 'allOf', 'anyOf', 'oneOf', 'not'],
  ...['if', 'then', 'else', 'contentSchema'],
]);

/** Keywords that hold schemas by name. */
export const MAP_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/** Keywords that apply a schema from elsewhere. */
export const REF_KEYWORDS: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

/** `$async` would turn the check into a promise; `id` is draft 4's, and Ajv throws at it; `$schema` is known by then. */
export const DROPPED_KEYWORDS: ReadonlySet<string> = new Set(['$async', 'id', '$schema', WORK_KEYWORD]);

/** Keywords that refuse more when what is below them refuses less. */
export const CONTRARY_KEYWORDS: ReadonlySet<string> = new Set(['not', 'if', 'then', 'else', 'maxContains', 'oneOf']);

/** What `type` may say. */
export const JSON_TYPES: ReadonlySet<string> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
]);
