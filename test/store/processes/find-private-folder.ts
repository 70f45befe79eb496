import { findPrivateFolder } from '../../../src/store/private-folder.ts';

/** Finds the private folder of a configuration as soon as a line comes in, and says what it found. */
const [configFolder = '', stateHome = ''] = process.argv.slice(2);
console.log('ready');
process.stdin.once('data', () => {
  console.log(JSON.stringify(findPrivateFolder(configFolder, { XDG_STATE_HOME: stateHome })));
  process.exit(0);
});
