// @ts-check
import { ToolcribError } from 'toolcrib';
import { checkRun, RUN_SCHEMA } from './check-run.js';
import { toResult, whyNoAnswer } from './read-answer.js';
import { sendQuery } from './send-query.js';

/**
 * What stands under `options:` in the configuration.
 * @typedef {object} GraphqlOptions
 * @property {string} endpoint Where all queries go.
 * @property {string} [secret] The name of the secret that is sent as a bearer token; it has to be bound to the host of the endpoint.
 * @property {number} [maxBytes] How much of an answer is read; 10 MB if absent.
 */

/**
 * Runs tools whose `run` is `{ kind: graphql, query, operationName?, variables? }`.
 * @param {GraphqlOptions} options
 * @param {Pick<import('toolcrib').ExecutorContext, 'fillSecrets'>} [context] Comes from the crib where the configuration names this module.
 * @returns {import('toolcrib').Executor}
 */
export function graphql(options, context) {
  const { endpoint, secret, maxBytes } = readOptions(options, context);
  const closing = new AbortController();

  /** Looked up for each call, so that a changed secret counts at once. */
  const headersFor = async () => {
    if (secret === undefined || context === undefined) return {};
    return { authorization: await context.fillSecrets(`Bearer \${secret:${secret}}`, endpoint.host) };
  };

  return {
    kind: 'graphql',
    runSchema: RUN_SCHEMA,
    check: checkRun,
    async execute(call, run) {
      const body = JSON.stringify({
        query: run.query,
        ...(run.operationName !== undefined && { operationName: run.operationName }),
        variables: toVariables(call.input, run.variables),
      });
      // Whichever comes first: the call is called off, its time is up, or the crib is closed.
      const signal = AbortSignal.any([call.signal, closing.signal]);
      try {
        const headers = { ...(await headersFor()), ...(call.traceparent && { traceparent: call.traceparent }) };
        return toResult(await sendQuery({ endpoint, headers, body, maxBytes, signal }), call.spec);
      } catch (cause) {
        return whyNoAnswer(cause, { spec: call.spec, isEnded: signal.aborted });
      }
    },
    async close() {
      closing.abort();
    },
  };
}

/**
 * The variables of the query: by the names of the run where it has any, else every argument under its own name.
 * @param {import('toolcrib').JsonObject} input
 * @param {unknown} mapping Checked by the schema of runs.
 */
function toVariables(input, mapping) {
  if (typeof mapping !== 'object' || mapping === null) return input;
  const named = Object.entries(mapping).filter(([, argument]) => Object.hasOwn(input, argument));
  return Object.fromEntries(named.map(([variable, argument]) => [variable, input[argument]]));
}

/**
 * A mistake in the configuration throws here, when the crib is made, and not at the first call.
 * @param {Partial<GraphqlOptions>} options
 * @param {Pick<import('toolcrib').ExecutorContext, 'fillSecrets'> | undefined} context
 */
function readOptions(options, context) {
  const { endpoint, secret, maxBytes = 10_000_000, ...unknown } = options;
  const mistake = (/** @type {string} */ what) => new ToolcribError('invalid_option', `The graphql executor: ${what}`);
  const [stray] = Object.keys(unknown);
  if (stray !== undefined) throw mistake(`there is no option "${stray}"; there are endpoint, secret and maxBytes.`);
  const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw mistake('endpoint must be an address that starts with https:// or http://, without a user.');
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) throw mistake('maxBytes must be a whole number above 0.');
  if (secret === undefined) return { endpoint: url, secret, maxBytes };
  if (typeof secret !== 'string' || !/^[\w.-]+$/.test(secret)) throw mistake('secret must be the name of a secret.');
  if (context === undefined) throw mistake('a secret can be used only where the configuration names this module.');
  return { endpoint: url, secret, maxBytes };
}
