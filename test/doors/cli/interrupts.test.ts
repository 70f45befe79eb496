import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OFFICE } from './office.ts';
import { createWorkshop, type Workshop } from './workshop.ts';

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'interrupt-at.ts')).href;
/** Processes at once. */
const HANDS = 4;

type Environment = Readonly<Record<string, string>>;

/** A command in a folder, and what may be in that folder whenever it was interrupted. */
interface Command {
  readonly args: readonly string[];
  /** The folder it begins with. */
  readonly template: Workshop;
  /** The state of the folder, as far as it must be what it was before or what it is afterwards. */
  stateOf(shop: Workshop): unknown;
  /** At how many moments, at most, it is interrupted. */
  readonly most: number;
}

interface Ending {
  readonly code: number | string | null;
  readonly stdout: string;
  readonly state: unknown;
}

/** Runs a command in a folder of its own, with a SIGINT at one of its moments. */
async function run({ args, template, stateOf }: Command, env: Environment): Promise<Ending> {
  const shop = createWorkshop();
  try {
    cpSync(template.folder, shop.folder, { recursive: true });
    const child = shop.start(args, { env: { ...env, NODE_OPTIONS: `--import=${PRELOAD}` } });
    const ended = once(child, 'close');
    child.stdin.on('error', () => {}).end(); // it may end without reading
    const [stdout] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { code: child.exitCode ?? child.signalCode, stdout, state: stateOf(shop) };
  } finally {
    shop.remove();
  }
}

/** How it ends undisturbed, and for each of its moments. */
async function interruptEverywhere(command: Command) {
  const shop = createWorkshop();
  const countFile = join(shop.folder, 'moments');
  const whole = await run(command, { MOMENTS_FILE: countFile });
  const moments = Number(readFileSync(countFile, 'utf8'));
  shop.remove();
  const step = Math.max(1, moments / command.most);
  const chosen = Array.from({ length: Math.floor(moments / step) }, (_, index) => Math.floor(index * step));
  const endings: Ending[] = [];
  const work = async () => {
    for (let at = chosen.shift(); at !== undefined; at = chosen.shift()) {
      endings.push(await run(command, { INTERRUPT_AT: String(at) }));
    }
  };
  await Promise.all(Array.from({ length: HANDS }, work));
  return { whole, endings };
}

/** Whatever the moment: exit code 130, or finished as if nothing had come; and the old state or the new. */
async function expectSound(command: Command): Promise<void> {
  onTestFinished(command.template.remove);
  const before = command.stateOf(command.template);
  const { whole, endings } = await interruptEverywhere(command);
  expect(whole.code).toBe(0);
  const interrupted = endings.filter(({ code }) => code === 130 || code === 'SIGINT'); // a shell says 130 for both
  const others = endings.filter((ending) => !interrupted.includes(ending));
  expect(others).toEqual(others.map(() => whole));
  for (const { state } of interrupted) expect([before, whole.state]).toContainEqual(state);
  expect(interrupted.length).toBeGreaterThan(0);
}

const listing = (shop: Workshop) => readdirSync(shop.folder).toSorted();
const contentOf = (shop: Workshop, file: string) =>
  listing(shop).includes(file) ? readFileSync(join(shop.folder, file), 'utf8') : undefined;

function openSound<T>(file: string, look: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    return look(database);
  } finally {
    database.close();
  }
}

/** What is stored, from a database that must open and be sound. */
function storedIn(shop: Workshop): unknown {
  requireWhole(join(shop.folder, 'state'));
  const file = join(shop.folder, 'state/crib.db');
  if (!existsSync(file)) return [];
  return openSound(file, (database) => {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE name = 'toolcrib_specs'").all();
    return tables.length === 0 ? [] : database.prepare('SELECT name, spec FROM toolcrib_specs ORDER BY name').all();
  });
}

/** The folder beside the configuration, and that of the user's state directory. */
const STATE = ['.toolcrib', '.local'];

/** What calls leave in the state folders must be whole; the rest of the folder must be as it was. */
function officeState(shop: Workshop): unknown {
  for (const folder of STATE) requireWhole(join(shop.folder, folder));
  const database = join(shop.folder, '.toolcrib/crib.db');
  if (existsSync(database)) openSound(database, () => {});
  return listing(shop).filter((name) => !STATE.includes(name));
}

/** No draft is left in a state folder, and every file in it is whole. */
function requireWhole(folder: string): void {
  if (!existsSync(folder)) return;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  expect(
    paths.filter(
      (path) => !/(crib\.db(-wal|-shm|-journal)?|\.json|\.pem|\.gitignore|\/id|\/configuration)$/.test(path),
    ),
  ).toEqual([]);
  expect(paths.filter((path) => /\.(tmp|part|draft|swap)\b/.test(path))).toEqual([]);
  for (const path of paths.filter((one) => one.endsWith('.json'))) JSON.parse(readFileSync(path, 'utf8'));
  for (const path of paths.filter((one) => one.endsWith('/id')))
    expect(readFileSync(path, 'utf8')).toMatch(/^[0-9a-f]{32}\n$/);
  for (const path of paths.filter((one) => one.endsWith('.pem'))) {
    expect(readFileSync(path, 'utf8')).toMatch(/^-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\s*$/);
  }
}

const MCP = JSON.stringify({ mcpServers: { gh: { command: 'gh-mcp', env: { TOKEN: 'hunter2hunter2' } } } });
const STORED = 'sources: { stored: { database: true } }\nstore: { url: "sqlite:state/crib.db" }\n';
const specsOf = (description: string) =>
  JSON.stringify({
    tools: ['a', 'b', 'c'].map((name) => ({ name, description, run: { kind: 'http', url: 'https://x.test' } })),
  });
const configState = (shop: Workshop) => [listing(shop), contentOf(shop, 'toolcrib.yaml')];

describe('Ctrl-C at any moment', () => {
  it('of init leaves the complete file or none, and nothing else', async () => {
    await expectSound({ args: ['init'], template: createWorkshop(), stateOf: configState, most: 16 });
  });

  it('of init --from leaves the old file or the new one, and nothing else', async () => {
    const template = createWorkshop({ 'toolcrib.yaml': 'old: 1\n', 'mcp.json': MCP });
    await expectSound({ args: ['init', '--force', '--from', 'mcp.json'], template, stateOf: configState, most: 16 });
  });

  it('of specs add leaves all specs or none in a new store', async () => {
    const template = createWorkshop({ 'toolcrib.yaml': STORED, 'specs.json': specsOf('new') });
    await expectSound({ args: ['specs', 'add', 'specs.json'], template, stateOf: storedIn, most: 12 });
  });

  it('of specs add leaves the old specs or the new ones', async () => {
    const files = { 'toolcrib.yaml': STORED, 'specs.json': specsOf('new'), 'old.json': specsOf('old') };
    const template = createWorkshop(files);
    expect(await template.run(['specs', 'add', 'old.json'])).toMatchObject({ code: 0 });
    await expectSound({ args: ['specs', 'add', 'specs.json'], template, stateOf: storedIn, most: 12 });
  });

  it('of call leaves nothing half-written', async () => {
    const template = createWorkshop(OFFICE);
    await expectSound({ args: ['call', 'add', 'a=1', 'b=2'], template, stateOf: officeState, most: 12 });
  });

  it('of list leaves nothing behind', async () => {
    await expectSound({ args: ['list'], template: createWorkshop(OFFICE), stateOf: officeState, most: 6 });
  });
});
