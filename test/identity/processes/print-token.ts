import { createOperatorToken } from '../../../src/identity/operator-token.ts';

/** Says the operator's token of a folder as soon as a line comes in. */
const [folder] = process.argv.slice(2);
console.log('ready');
process.stdin.once('data', async () => {
  console.log(await createOperatorToken(undefined, { folder: () => folder, hide: () => {} }).get());
  process.exit(0);
});
