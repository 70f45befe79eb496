import { fetchCatalogues } from './requests/fetch-catalogues.ts';
import { checkRequests } from './requests/read-requests.ts';
import { showCandidates, showTools } from './requests/show-tools.ts';

const USAGE = `npm run requests -- fetch                        the catalogues, into the cache
npm run requests -- tools NAME [COUNT] [SEED]    random tools of a catalogue, to write requests for
npm run requests -- find NAME WORDS              the tools of a catalogue with all these words in title or name, to label
npm run requests -- check                        ids, voices and counts of the requests
npm run requests -- judge NAME [FROM] [COUNT]    requests with their labels and other candidates, unordered`;

const [command, name = '', ...rest] = process.argv.slice(2);
const [first, second] = rest.map(Number);
if (command === 'fetch') await fetchCatalogues();
else if (command === 'tools') showTools(name, { count: first ?? 20, seed: second ?? 1 });
else if (command === 'find') showTools(name, { words: rest });
else if (command === 'check') checkRequests();
else if (command === 'judge') await showCandidates(name, { from: first ?? 0, count: second ?? 25 });
else console.log(USAGE);
