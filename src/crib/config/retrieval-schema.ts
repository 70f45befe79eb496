import { address, anything, choice, either, flag, list, mapOf, object, text, typed } from '../../config/schema-node.ts';

const embeddings = either(
  'The embedding model of search.',
  choice(['builtin', 'none'], 'The built-in embedding model, or keyword search only.'),
  typed(
    'EmbeddingsConfig',
    object(
      'An OpenAI-compatible endpoint.',
      {
        url: address('The URL of the endpoint.'),
        model: text('The name of the model.'),
        key: text(`The API key, usually \${secret:NAME}.`, { use: 'secretText' }),
      },
      ['url', 'model'],
    ),
  ),
);

/** Settings of search, and where requests that count as examples are kept. */
export const retrievalNode = typed(
  'RetrievalConfig',
  object('Settings of tool search.', {
    embeddings,
    synonyms: list(
      list(text('A word, or two words.'), 'Words that mean the same.', 2),
      'Groups of words that mean the same in your tools, such as [invoice, bill].',
    ),
    examples: text('A file with requests for tools, one JSON object a line, which search reads as their examples.', {
      use: 'path',
    }),
    enrich: text('The model of executors.agent.models with which "toolcrib enrich" writes these requests.'),
    usage: flag('Among equally good matches, tools that the caller uses most come first; default false.'),
    module: text('A module or package that exports a retriever.', { use: 'module' }),
    options: mapOf(anything('The value.'), 'Options for the retriever.'),
  }),
);
