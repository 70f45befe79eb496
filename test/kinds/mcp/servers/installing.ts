// A program that has something else to do before it is a server, as its first argument says, until the file exists that its second argument names.
import { existsSync } from 'node:fs';
import { showPresence } from './present.ts';

const [, , manner = '', file = ''] = process.argv;

showPresence('server');
if (manner === 'asks')
  process.stderr.write('Need to install the following packages:\ncowsay@1.6.0\nOk to proceed? (y) ');
if (manner === 'asks on stdout') process.stdout.write('Enter your API key: ');
if (manner === 'crashes') await import(`${file}/_npx/0f3a9b12cd/node_modules/gone/index.js`);
if (manner === 'tells a secret') process.stderr.write(`fetching one\nwith ${process.env.KEY}\n`);
let count = 0;
const work = setInterval(() => {
  if (manner === 'prints') process.stderr.write(`fetching ${++count}\n`);
  if (manner === 'computes') for (const end = performance.now() + 20; performance.now() < end; );
  if (file === '' || !existsSync(file)) return;
  clearInterval(work);
  process.argv[2] = 'well';
  process.argv[3] = '';
  void import('./rough.ts');
}, 25);
