// A worker in code, for the configuration in a folder. Argument: the folder.
import { createCrib } from '../../../src/index.ts';

const crib = await createCrib({ configFile: process.argv[2] ?? '.', worker: ['bench'] });
crib.server.runTasks({ isWorker: true, sources: ['bench'] });
console.log('ready');
process.stdin.on('end', () => void crib.close()).resume();
