// Run with a copy of the repository: tries each leaf there, and writes what became of it to `report.json`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** What each leaf did, by its name, and what is generated from the nodes and tables. */
export interface Report {
  readonly did: Readonly<Record<string, unknown>>;
  readonly generated: string;
}

const root = process.argv[2] ?? '';
const load = (file: string) => import(join(root, file));

const { createCrib, defineTool, done } = await load('src/index.ts');
const { createRestApp } = await load('src/doors/rest/create-rest-app.ts');

const add = defineTool({ name: 'add', description: 'adds', input: {}, run: () => 'added' });
const stuck = defineTool({ name: 'stuck', description: 'never ends', input: {}, run: () => new Promise(() => {}) });

/** The text or the error that a tool answers with in a crib of these options. */
async function call(tool: string, options: object): Promise<string> {
  const crib = await createCrib(options);
  const result = await (await crib.open()).call(tool, {});
  await crib.close();
  return result.ok ? result.content[0].text : result.error.message;
}

const TRIES: Readonly<Record<string, () => Promise<unknown>>> = {
  async curfew() {
    const { EXTENSION_ORDER } = await load('src/crib/built-ins.ts');
    const order = EXTENSION_ORDER.map(({ name }: { name: string }) => name);
    const answer = await call('add', { tools: [add], config: { extensions: { curfew: { tool: 'add' } } } });
    return [order.includes('curfew'), answer];
  },
  echo() {
    const tool = { name: 'parrot', description: 'echoes', run: { kind: 'echo', says: 'ha' } };
    return call('parrot', { config: { tools: [tool], executors: { echo: { times: 2 } } } });
  },
  async haiku() {
    mkdirSync(join(root, 'dist/formats'), { recursive: true });
    writeFileSync(join(root, 'dist/formats/haiku.js'), `export * from '../../src/formats/haiku.ts';`); // as the build does
    const { toHaiku } = await import(createRequire(join(root, 'package.json')).resolve('toolcrib/formats/haiku'));
    const crib = await createCrib({ tools: [add] });
    const lines = toHaiku(crib.catalog.specs);
    await crib.close();
    return lines;
  },
  async numerals() {
    const crib = await createCrib({ config: { sources: { few: { numerals: 2 } } } });
    const names = crib.catalog.specs.map(({ name }: { name: string }) => name);
    await crib.close();
    return names;
  },
  async greetings() {
    const { openStore } = await load('src/store/open-store.ts');
    const { lazyStore } = await load('src/crib/configured/lazy-store.ts');
    const store = lazyStore(() => openStore({ url: 'memory:', env: {} }));
    await store.greetings.put('morning', 'good morning');
    const kept = await store.greetings.get('morning');
    await store.close();
    return kept;
  },
  async motto() {
    const crib = await createCrib({ tools: [add] });
    const app = createRestApp(crib);
    const answer = await app.fetch(new Request('http://127.0.0.1/api/motto'));
    const body = await answer.json();
    app.close();
    await crib.close();
    return body;
  },
  async salute() {
    const { runCli } = await load('src/doors/cli/run-cli.ts');
    const said: string[] = [];
    const { write } = process.stdout;
    process.stdout.write = (text: string | Uint8Array) => said.push(String(text)) > 0;
    const exitCode = await runCli(['salute', 'crew']).finally(() => {
      process.stdout.write = write;
    });
    return [exitCode, said.join('')];
  },
  leastMs() {
    return call('stuck', { tools: [stuck], config: { extensions: { timeout: { timeoutMs: 1, leastMs: 20 } } } });
  },
  async maxParts() {
    const text = { type: 'text', text: 'part' };
    const run = () => done([text, text]);
    const parts = defineTool({ name: 'parts', description: 'answers twice', input: {}, run });
    const tooFew = { name: 'few', description: 'answers', run: () => 1, policy: { maxParts: 0 } };
    const mistake = await createCrib({ tools: [tooFew] }).catch(({ message }: Error) => message);
    const answer = await call('parts', {
      tools: [parts],
      config: { profiles: { default: { policy: { maxParts: 1 } } } },
    });
    return [mistake, answer];
  },
  async watchword() {
    let told: unknown;
    const setup = ({ options }: { options: Readonly<Record<string, unknown>> }) => {
      told = options.watchword;
    };
    await call('add', { watchword: 'oak', bundles: [{ name: 'sums', tools: [add], setup }] });
    return told;
  },
};

const did: Record<string, unknown> = {};
for (const [name, attempt] of Object.entries(TRIES)) {
  did[name] = (await attempt().catch((cause: unknown) => ({ failure: String(cause) }))) ?? null;
}

const { emitTypes } = await load('src/crib/config/emit-types.ts');
const { emitSchema } = await load('src/crib/config/emit-schema.ts');
const { DOCS, emitDocs } = await load('scripts/emit-docs.ts');
const pages: readonly string[] = DOCS.map((page: string) => emitDocs(page, readFileSync(join(root, page), 'utf8')));
const types: Readonly<Record<string, string>> = emitTypes();
for (const [file, text] of Object.entries(types)) writeFileSync(join(root, 'src/config/types', file), text);
const generated = [...Object.values(types), JSON.stringify(emitSchema()), ...pages].join('\n');
writeFileSync(join(root, 'report.json'), JSON.stringify({ did, generated } satisfies Report));
