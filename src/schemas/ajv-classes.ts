// Loaded at the first check of a schema, and one file instead of a hundred in the built package.
export { Ajv } from 'ajv';
export { Ajv2019 } from 'ajv/dist/2019.js';
export { Ajv2020 } from 'ajv/dist/2020.js';
export { default as addFormats } from 'ajv-formats';
