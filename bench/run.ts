import { availableParallelism, cpus } from 'node:os';

/** The sections by name. Each loads its own code and ends within 4 minutes. */
const SECTIONS: Readonly<Record<string, () => Promise<unknown>>> = {
  call: async () => (await import('./call.ts')).benchCall(),
  scale: async () => (await import('./call-scale.ts')).benchScale(),
  audit: async () => (await import('./audit.ts')).benchAudit(),
  records: async () => (await import('./records.ts')).benchRecords(),
  catalog: async () => (await import('./catalog.ts')).benchCatalog(),
  cli: async () => (await import('./cli.ts')).benchCli(),
  start: async () => (await import('./start.ts')).benchStart(),
  store: async () => (await import('./store.ts')).benchStore(),
  approvals: async () => (await import('./approvals.ts')).benchApprovals(),
  specs: async () => (await import('./specs.ts')).benchSpecs(),
  shell: async () => (await import('./shell.ts')).benchShell(),
  python: async () => (await import('./python.ts')).benchPython(),
  script: async () => (await import('./script.ts')).benchScript(),
  http: async () => (await import('./http.ts')).benchHttp(),
  gateway: async () => (await import('./gateway.ts')).benchGateway(),
};

const named = process.argv.slice(2);
const unknown = named.filter((name) => SECTIONS[name] === undefined);
if (unknown.length > 0)
  throw new Error(`No section is named ${unknown.join(', ')}. There are: ${Object.keys(SECTIONS).join(', ')}.`);

console.log(`Node ${process.version}, ${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown processor'}`);
for (const [name, run] of Object.entries(SECTIONS)) if (named.length === 0 || named.includes(name)) await run();
