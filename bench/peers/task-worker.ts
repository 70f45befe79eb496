import { createCrib } from 'toolcrib';

/** Runs the background calls of a configuration, at most as many at once as it is told. */
const [configFile = '', concurrency = ''] = process.argv.slice(2);
const crib = await createCrib({ configFile });
crib.server.runTasks({ concurrency: Number(concurrency), isWorker: true });
process.send?.('ready');
process.on('disconnect', () => process.exit(0));
