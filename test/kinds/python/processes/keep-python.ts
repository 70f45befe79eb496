// A crib whose Python tool never ends; stays until it is killed.
import { createCrib } from '../../../../src/index.ts';

const crib = await createCrib({ configFile: process.argv[2] ?? '', store: { url: 'memory:' } });
await (await crib.open()).call('hangs', {});
