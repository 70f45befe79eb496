import { describe, expect, it, vi } from 'vitest';
import {
  type Approve,
  type Crib,
  type CribOptions,
  done,
  type Executor,
  type Extension,
  type ToolCall,
} from '../../src/index.ts';
import { cribOf, folderWith, namesOf, write } from './workshop.ts';

/** Answers with the arguments it got. */
const echo: Executor = {
  kind: 'echo',
  runSchema: { type: 'object', additionalProperties: false, properties: { kind: {} } },
  execute: (call) => done('', call.input),
};

const PROPERTIES = {
  repo: { type: 'string', minLength: 3 },
  title: { type: 'string', default: 'untitled' },
  labels: { type: 'array', items: { type: 'string' }, default: ['new'] },
  dry: { type: 'boolean' },
};
const INPUT = { type: 'object', properties: PROPERTIES, required: ['repo'] };
const spec = (name: string, input: object = INPUT) => ({ name, description: name, input, run: { kind: 'echo' } });

const files = (...tools: readonly object[]) => JSON.stringify({ tools });
const configuration = (overrides: object, more = '') =>
  `sources:\n  gh: { files: ./tools.json, overrides: ${JSON.stringify(overrides)} }\n${more}`;

async function cribWith(overrides: object, tools = [spec('create_issue')], more: CribOptions = {}): Promise<Crib> {
  const folder = folderWith({ 'toolcrib.yaml': configuration(overrides), 'tools.json': files(...tools) });
  return cribOf(folder, { executors: [echo], watch: false, ...more });
}

const FIX_REPO = { create_issue: { fixedArguments: { repo: 'acme/site' } } };
const reasonOf = (crib: Crib) => crib.sources().find(({ name }) => name === 'gh')?.reason;

describe('a fixed argument', () => {
  it('is not shown, and still reaches the tool', async () => {
    const crib = await cribWith(FIX_REPO);
    const { repo: _repo, ...others } = PROPERTIES;
    expect(crib.get('create_issue')?.input).toEqual({ type: 'object', properties: others });
    const chest = await crib.open();
    expect(await chest.call('create_issue', { title: 'Broken' })).toMatchObject({
      ok: true,
      data: { repo: 'acme/site', title: 'Broken', labels: ['new'] },
    });
    expect(await chest.call('create_issue')).toMatchObject({ data: { repo: 'acme/site', title: 'untitled' } });
  });

  it.each([
    ['a schema that is open', INPUT],
    ['a schema that is closed', { ...INPUT, additionalProperties: false }],
  ])('that a caller sends is refused, by %s', async (_, input) => {
    const execute = vi.fn(echo.execute);
    const crib = await cribWith(FIX_REPO, [spec('create_issue', input)], { executors: [{ ...echo, execute }] });
    const result = await (await crib.open()).call('create_issue', { repo: 'evil/site' });
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'invalid_input', issues: [{ path: '/repo', message: 'is not a known argument.' }] },
    });
    expect(execute).not.toHaveBeenCalled();
  });

  it('is neither approved nor recorded: only the arguments of the caller are', async () => {
    const seen: unknown[] = [];
    const note = (call: ToolCall) => void seen.push(call.input);
    const wrap: Extension['wrap'] = (call, next) => {
      note(call);
      return next(call);
    };
    const crib = await cribWith(
      { create_issue: { ...FIX_REPO.create_issue, policy: { approval: 'always' } } },
      undefined,
      { extensions: [{ name: 'watch', priority: 300, onStart: note, wrap }] },
    );
    const approve = vi.fn<Approve>(() => true);
    const chest = await crib.open(undefined, { id: 'ann', approve });
    expect(await chest.call('create_issue', { title: 'T' })).toMatchObject({ data: { repo: 'acme/site', title: 'T' } });
    expect(approve.mock.calls[0]?.[0].arguments).toEqual({ title: 'T', labels: ['new'] });
    expect(seen).toEqual([{ title: 'T' }, { title: 'T', labels: ['new'] }]);
  });

  it('applies even if another extension replaces validation', async () => {
    const crib = await cribWith({ create_issue: { ...FIX_REPO.create_issue, hiddenArguments: 'dry' } }, undefined, {
      extensions: [{ name: 'validate', priority: 500, wrap: (call, next) => next(call) }],
    });
    const result = await (await crib.open()).call('create_issue', { repo: 'evil/site', dry: true, title: 'T' });
    expect(result).toMatchObject({ ok: true, data: { repo: 'acme/site', title: 'T' } });
    expect(result).not.toHaveProperty('data.dry');
  });

  it('may contain variables, but no secrets', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `
sources:
  gh: { files: ./tools.json, overrides: { create_issue: { fixedArguments: { repo: "\${OWNER_OF_REPO:-acme}/site" } } } }
  other: { files: ./tools.json, prefix: o, overrides: { "*": { fixedArguments: { repo: "\${secret:token}" } } } }
secrets: { token: { env: TOKEN } }
`,
      'tools.json': files(spec('create_issue')),
    });
    const crib = await cribOf(folder, { executors: [echo] });
    expect(await (await crib.open()).call('create_issue')).toMatchObject({ data: { repo: 'acme/site' } });
    expect(namesOf(crib)).toEqual(['create_issue']);
    expect(crib.warnings().join('\n')).toMatch(/repo may not contain a secret/);
  });

  it('that only a validator finds invalid fails the call, and the error names nothing hidden', async () => {
    const crib = await cribWith({ create_issue: { fixedArguments: { repo: 'x' } } });
    const result = await (await crib.open()).call('create_issue', {});
    expect(result).toMatchObject({ error: { code: 'invalid_input', issues: [{ path: '' }] } });
    expect(JSON.stringify(result)).not.toMatch(/repo|"x"/);
  });

  it('is visible to operators by name; its value is never shown', async () => {
    const crib = await cribWith({ '*': { ...FIX_REPO.create_issue, hiddenArguments: ['dry'] } });
    const explanation = crib.explain({}, undefined, 'create_issue');
    expect(explanation.withheld).toEqual({ fixed: ['repo'], hidden: ['dry'] });
    expect(JSON.stringify([explanation, crib.catalog.specs, crib.warnings()])).not.toContain('acme/site');
  });

  it('of several overrides: all apply, and the later one wins', async () => {
    const crib = await cribWith({
      '*': { fixedArguments: { repo: 'acme/one', dry: true } },
      'create_*': { fixedArguments: { repo: 'acme/two' }, hiddenArguments: ['title'] },
    });
    expect(Object.keys(crib.get('create_issue')?.input.properties ?? {})).toEqual(['labels']);
    expect(await (await crib.open()).call('create_issue')).toMatchObject({
      data: { repo: 'acme/two', dry: true, title: 'untitled' },
    });
  });

  it('that changes is a change of the tool', async () => {
    const folder = folderWith({ 'toolcrib.yaml': configuration(FIX_REPO), 'tools.json': files(spec('create_issue')) });
    const crib = await cribOf(folder, { executors: [echo], watch: false });
    write(folder, { 'toolcrib.yaml': configuration({ '*': { fixedArguments: { repo: 'acme/other' } } }) });
    expect(await crib.reload()).toEqual({ added: [], removed: [], changed: ['create_issue'] });
    expect(await (await crib.open()).call('create_issue')).toMatchObject({ data: { repo: 'acme/other' } });
  });
});

describe('a hidden argument', () => {
  it('is not shown, and the tool gets its default or no value', async () => {
    const crib = await cribWith({ create_issue: { hiddenArguments: ['title', 'dry'] } });
    expect(Object.keys(crib.get('create_issue')?.input.properties ?? {})).toEqual(['repo', 'labels']);
    const result = await (await crib.open()).call('create_issue', { repo: 'acme/site' });
    expect(result).toMatchObject({ data: { repo: 'acme/site', title: 'untitled', labels: ['new'] } });
    expect(result).not.toHaveProperty('data.dry');
  });

  it('is not accepted from callers', async () => {
    const chest = await (await cribWith({ create_issue: { hiddenArguments: 'dry' } })).open();
    expect(await chest.call('create_issue', { repo: 'acme/site', dry: false })).toMatchObject({
      error: { code: 'invalid_input', issues: [{ path: '/dry' }] },
    });
  });

  it('that is required and has no default fails its source, which names tool and argument', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `
sources:
  gh: { files: ./tools.json, overrides: { "create_*": { hiddenArguments: [repo] } } }
  fine: { files: ./fine.json }
`,
      'tools.json': files(spec('create_issue'), spec('other')),
      'fine.json': files(spec('fine')),
    });
    const crib = await cribOf(folder, { executors: [echo] });
    expect(namesOf(crib)).toEqual(['fine']);
    expect(crib.sources().find(({ name }) => name === 'gh')).toMatchObject({ state: 'failed' });
    expect(reasonOf(crib)).toMatch(/"create_issue".*"repo" is required and has no default.*fixedArguments/);
  });
});

describe('a tool in code with a schema of its author', () => {
  const tool = (input: string) => `
import { z } from ${JSON.stringify(import.meta.resolve('zod'))};
export const book = {
  name: 'book', description: 'Book a room', input: ${input},
  execute: (input, call) => ({ input, seen: call.input, isDate: input.at instanceof Date }),
};`;
  const open = async (input: string, override: object) => {
    const folder = folderWith({
      'toolcrib.yaml': `sources:\n  mine: { modules: ./plugins, overrides: { book: ${JSON.stringify(override)} } }\n`,
      'plugins/book.mjs': tool(input),
    });
    const crib = await cribOf(folder, { watch: false });
    return { crib, chest: await crib.open() };
  };

  it('gets the result of that schema over all arguments', async () => {
    const input =
      'z.object({ room: z.string(), at: z.string().transform((text) => new Date(text)), seats: z.coerce.number().default(4) })';
    const { crib, chest } = await open(input, { fixedArguments: { room: 'blue' }, hiddenArguments: ['seats'] });
    expect(Object.keys(crib.get('book')?.input.properties ?? {})).toEqual(['at']);
    expect(await chest.call('book', { at: '2026-01-31T09:30:00Z' })).toMatchObject({
      data: {
        input: { room: 'blue', seats: 4, at: '2026-01-31T09:30:00.000Z' },
        seen: { room: 'blue', at: '2026-01-31T09:30:00Z' },
        isDate: true,
      },
    });
  });

  it('is checked against that schema over all arguments together', async () => {
    const input =
      "z.object({ room: z.string(), seats: z.number() }).refine((all) => all.room !== 'small' || all.seats < 5, { message: 'room small has no such seats', path: ['seats'] })";
    const { chest } = await open(input, { fixedArguments: { room: 'small' } });
    expect(await chest.call('book', { seats: 3 })).toMatchObject({ ok: true });
    expect(await chest.call('book', { seats: 9 })).toMatchObject({ error: { code: 'invalid_input' } });
    expect(await chest.call('book', { seats: 3, room: 'hall' })).toMatchObject({ error: { code: 'invalid_input' } });
  });

  it('may check asynchronously', async () => {
    const input = 'z.object({ room: z.string().refine(async (name) => name === "blue"), seats: z.number() })';
    const { chest } = await open(input, { fixedArguments: { room: 'blue' } });
    expect(await chest.call('book', { seats: 3 })).toMatchObject({ data: { input: { room: 'blue', seats: 3 } } });
    expect(await chest.call('book', { seats: 'x' })).toMatchObject({
      error: { code: 'invalid_input', issues: [{ path: '/seats' }] },
    });
  });
});

describe('a glob', () => {
  const search = spec('search', { type: 'object', properties: { query: { type: 'string' } } });

  it('leaves a tool without this argument unchanged, but refuses callers that send it', async () => {
    const crib = await cribWith({ '*': { fixedArguments: { repo: 'acme/site' } } }, [spec('create_issue'), search]);
    expect(crib.get('search')?.input).toEqual(search.input);
    const chest = await crib.open();
    const result = await chest.call('search', { query: 'x' });
    expect(result).toMatchObject({ data: { query: 'x' } });
    expect(result).not.toHaveProperty('data.repo');
    expect(await chest.call('search', { repo: 'evil' })).toMatchObject({ error: { code: 'invalid_input' } });
  });

  it('that matches no tool is reported', async () => {
    const crib = await cribWith({ 'creat_*': { fixedArguments: { repo: 'x' } }, '*': { tags: ['all'] } });
    expect(namesOf(crib)).toEqual(['create_issue']);
    expect(crib.warnings()).toEqual(['The overrides "creat_*" of source "gh" match no tool.']);
  });

  it('reports include and exclude of a source that match no tool, as a misspelt name does', async () => {
    const chosen = 'include: ["*", "dele*", "serch"], exclude: [delete_repo, "delete_repos", "x_*"], prefix: gh';
    const folder = folderWith({
      'toolcrib.yaml': `sources:\n  gh: { files: ./tools.json, ${chosen} }\n`,
      'tools.json': files(spec('create_issue'), spec('delete_repo')),
    });
    const crib = await cribOf(folder, { executors: [echo] });
    expect(namesOf(crib)).toEqual(['gh_create_issue']);
    expect(crib.warnings()).toEqual(
      ['include "serch"', 'exclude "delete_repos"', 'exclude "x_*"'].map(
        (what) => `Source "gh": ${what} matches no tool.`,
      ),
    );
  });

  it('matches the names that tools have in the crib', async () => {
    const folder = folderWith({
      'toolcrib.yaml':
        'sources:\n  gh: { files: ./tools.json, prefix: gh, overrides: { "gh_*": { fixedArguments: { repo: abc } } } }\n',
      'tools.json': files(spec('create_issue')),
    });
    const chest = await (await cribOf(folder, { executors: [echo] })).open();
    expect(await chest.call('gh_create_issue')).toMatchObject({ data: { repo: 'abc' } });
  });
});

describe('an argument that a tool loses while running', () => {
  it('is not opened under another name: the old list stays, and the source says why', async () => {
    const folder = folderWith({ 'toolcrib.yaml': configuration(FIX_REPO), 'tools.json': files(spec('create_issue')) });
    const crib = await cribOf(folder, { executors: [echo], watch: false });
    const { repo, ...others } = PROPERTIES;
    const renamed = { type: 'object', properties: { ...others, repository: repo } };
    write(folder, { 'tools.json': files(spec('create_issue', renamed), spec('another')) });
    expect(await crib.reload()).toEqual({ added: [], removed: [], changed: [] });
    expect(crib.sources().find(({ name }) => name === 'gh')).toMatchObject({ state: 'down' });
    expect(reasonOf(crib)).toMatch(/"create_issue" has no argument "repo"/);
    expect(await (await crib.open()).call('create_issue')).toMatchObject({ data: { repo: 'acme/site' } });
  });
});

describe('priority, requires and meta', () => {
  const tools = [
    { ...spec('list_issues'), meta: { author: 'Ada', licence: 'MIT' }, priority: 1 },
    spec('create_issue'),
    spec('login'),
  ];
  const overrides = {
    '*_issue': { priority: 9, requires: 'login' },
    list_issues: { meta: { author: 'Grace', tested: true } },
  };

  it("the operator sets the priority of a source's tool in its bundle", async () => {
    const crib = await cribWith(overrides, tools);
    expect(crib.bundles.info('gh')?.toolNames).toEqual(['create_issue', 'list_issues', 'login']);
  });

  it("the operator sets the requirements of a source's tool, which are added with it", async () => {
    const crib = await cribWith(overrides, tools);
    expect(crib.get('create_issue')?.requires).toEqual(['login']);
    expect(crib.bundles.expand(['create_issue'], { bundleFilter: () => false })).toEqual(['create_issue', 'login']);
  });

  it('a required tool that does not exist is reported', async () => {
    const crib = await cribWith({ login: { requires: ['logn'] } }, tools);
    expect(crib.warnings()).toContain('Tool "login" requires the tool "logn", which does not exist.');
  });

  it('members of meta override those of the source, can be selected by, and cannot be changed', async () => {
    const crib = await cribWith(overrides, tools);
    const { meta } = crib.get('list_issues') ?? {};
    expect(meta).toEqual({ author: 'Grace', licence: 'MIT', tested: true });
    expect(Object.isFrozen(meta)).toBe(true);
    expect(crib.match({ tested: true }).map(({ name }) => name)).toEqual(['list_issues']);
  });

  it.each([
    ['priority', 'high'],
    ['requires', 7],
    ['meta', 'free'],
  ])('a wrong %s fails only its source, which says so', async (key, value) => {
    const crib = await cribWith({ '*': { [key]: value } }, tools);
    expect(crib.warnings().join()).toContain(`Source "gh": sources.gh.overrides["*"].${key} must be`);
  });
});
