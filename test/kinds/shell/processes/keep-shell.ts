// A crib that runs a command which does not end. It waits to be ended itself.
import { createCrib } from '../../../../src/index.ts';

const [configFile = ''] = process.argv.slice(2);
const crib = await createCrib({ configFile, store: { url: 'memory:' }, watch: false });
await (await crib.open()).call('hold', {});
