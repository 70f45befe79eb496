import { availableParallelism, cpus } from 'node:os';
import { benchCall } from './call.ts';
import { benchCatalog } from './catalog.ts';

console.log(`Node ${process.version}, ${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown processor'}`);
await benchCall();
await benchCatalog();
