import { describe, expect, it } from 'vitest';
import { createCrib, defineBundle, defineExtension, defineTool, ToolcribError } from '../../src/index.ts';
import { wrong } from './wrong.ts';

const tool = (more: object) => defineTool({ name: 'tool', description: '', input: {}, run: () => 1, ...more });
const policy = (value: object) => tool({ policy: value });
const profile = (value: unknown) => createCrib({ profiles: { only: wrong(value) } });
const caller = async (value: unknown) => (await createCrib()).open(undefined, wrong(value));

async function mistakeOf(make: () => unknown): Promise<unknown> {
  try {
    await make();
  } catch (error) {
    return error;
  }
  return undefined;
}

type Row = readonly [what: string, make: () => unknown, message: RegExp];

function itIsAMistake(rows: readonly Row[]) {
  it.each(rows)('%s', async (_, make, message) => {
    const mistake = await mistakeOf(make);
    expect(mistake).toBeInstanceOf(ToolcribError);
    expect((mistake as ToolcribError).message).toMatch(message); // the line above has seen that it is one
  });
}

describe('a mistake in the options of createCrib is an error at start', () => {
  itIsAMistake([
    ['an unknown option', () => createCrib(wrong({ tols: [] })), /"tols".*Did you mean "tools"\?/],
    [
      'an unknown option that is near nothing',
      () => createCrib(wrong({ zzzzzz: 1 })),
      /^createCrib has no "zzzzzz"\.$/,
    ],
    ['a list', () => createCrib(wrong([])), /createCrib must be an object, got a list/],
    ['null', () => createCrib(wrong(null)), /createCrib must be an object, got null/],
    ['tools that are not a list', () => createCrib(wrong({ tools: { name: 'x' } })), /"tools".*list/],
    ['bundles that are not a list', () => createCrib(wrong({ bundles: 'x' })), /"bundles".*list/],
    ['services that are not an object', () => createCrib(wrong({ services: ['x'] })), /"services".*object/],
    ['profiles that are not an object', () => createCrib(wrong({ profiles: 'x' })), /profile/i],
    [
      'a default profile that does not exist',
      () => createCrib({ profiles: { assistant: {} }, defaultProfile: 'asistant' }),
      /Did you mean "assistant"\?/,
    ],
    [
      'a default profile that is a number',
      () => createCrib({ profiles: { assistant: {} }, defaultProfile: wrong(5) }),
      /5/,
    ],
    ['a tool that is null', () => createCrib({ tools: [wrong(null)] }), /null is not a tool/],
    ['a bundle that is null', () => createCrib({ bundles: [wrong(null)] }), /bundle/i],
    ['a bundle that is a text', () => createCrib({ bundles: [wrong('files')] }), /bundle/i],
    ['a list of bundles with a hole', () => createCrib({ bundles: new Array(1) }), /bundle/i],
    ['a list of extensions with a hole', () => createCrib({ extensions: new Array(1) }), /extension/i],
    ['a source that is null', () => createCrib({ sources: [wrong(null)] }), /source/],
    ['a source without start', () => createCrib({ sources: [wrong({ name: 'x' })] }), /name and start/],
    ['an executor that is null', () => createCrib({ executors: [wrong(null)] }), /executor/],
    ['an executor without execute', () => createCrib({ executors: [wrong({ kind: 'x' })] }), /execute/],
    ['an extension that is null', () => createCrib({ extensions: [wrong(null)] }), /extension/i],
    [
      'an extension without a name',
      () => createCrib({ extensions: [wrong({ priority: 500 })] }),
      /extension needs a name/,
    ],
  ]);
});

describe('a mistake in a tool is an error where it is defined', () => {
  itIsAMistake([
    ['an unknown field', () => tool({ descripton: 'x' }), /Tool "tool" has no "descripton".*"description"/],
    ['an unknown effect', () => tool({ effects: { readonly: true } }), /Did you mean "readOnly"\?/],
    ['an effect that is not a boolean', () => tool({ effects: { destructive: 'no' } }), /effects\.destructive/],
    ['an unknown condition', () => tool({ when: { enviroment: 'X' } }), /"enviroment"/],
    ['a name that some vendor would refuse', () => tool({ name: 'a b' }), /"a b" is not a tool name/],
    ['a name that starts with a digit', () => tool({ name: '1a' }), /"1a" is not a tool name/],
    ['a name that is too long', () => tool({ name: 'x'.repeat(49) }), /48/],
    ['no name', () => tool({ name: undefined }), /not a tool name/],
    ['a description that is not text', () => tool({ description: 5 }), /description must be a string, got 5/],
    ['tags that are numbers', () => tool({ tags: [1] }), /tags/],
    ['needs that are an object', () => tool({ needs: {} }), /needs/],
    ['a run that is a text', () => tool({ run: 'rm -rf' }), /no run/],
    ['a run without a kind', () => tool({ run: { command: ['ls'] } }), /no run/],
    ['a run that JSON cannot carry', () => tool({ run: { kind: 'http', body: 5n } }), /"tool"/],
    ['a schema that is a text', () => tool({ input: 'object' }), /input schema/],
    [
      'a schema that contains itself',
      () => {
        const schema: Record<string, unknown> = {};
        schema.properties = { a: schema };
        return tool({ input: schema });
      },
      /schema/,
    ],
    ['meta that JSON cannot carry', () => tool({ meta: { f() {} } }), /meta must be plain JSON/],
    ['something that is not an object', () => defineTool(wrong(5)), /5 is not a tool/],
  ]);
});

describe('a mistake in a policy is an error where it is written', () => {
  itIsAMistake([
    ['an unknown key', () => policy({ timeoutms: 5, timeout: 5 }), /Did you mean "timeoutMs"\?/],
    ['an unknown mode of approval', () => policy({ approval: 'alway' }), /Did you mean "always"\?/],
    ['an unknown approver', () => policy({ approvers: ['me'] }), /"operator", "caller" or "role:NAME"/],
    ['an unknown scope', () => policy({ rates: [{ scope: 'tol', amount: 1, perMs: 1 }] }), /Did you mean "tool"\?/],
    ['an unknown key of a rate', () => policy({ rates: [{ scope: 'tool', amount: 1, perSecond: 1 }] }), /"perSecond"/],
    ['a rate without a time', () => policy({ rates: [{ scope: 'tool', amount: 1 }] }), /perMs/],
    ['a rate of none', () => policy({ rates: [{ scope: 'tool', amount: 0, perMs: 1 }] }), /amount/],
    ['rates that are not a list', () => policy({ rates: { scope: 'tool' } }), /rates must be a list/],
    ['slots of none', () => policy({ concurrency: [{ scope: 'tool', amount: 0 }] }), /amount/],
    ['an unknown key of an access clause', () => policy({ access: { role: ['x'] } }), /Did you mean "roles"\?/],
    ['roles that are a text', () => policy({ access: { roles: 'admin' } }), /lists of names/],
    ['hours that do not exist', () => policy({ access: { hours: { from: '25:00', to: '26:00' } } }), /HH:MM/],
    [
      'a time zone that does not exist',
      () => policy({ access: { hours: { from: '09:00', to: '10:00', timeZone: 'Mars/Base' } } }),
      /Mars\/Base/,
    ],
    ['a time below zero', () => policy({ timeoutMs: -1 }), /timeoutMs/],
    ['a time in words', () => policy({ timeoutMs: '5s' }), /timeoutMs/],
    ['endless retries', () => policy({ retries: Number.POSITIVE_INFINITY }), /retries/],
    ['something that is not an object', () => tool({ policy: 'strict' }), /policy of tool "tool" must be an object/],
  ]);
});

describe('a mistake in a bundle or an extension is an error where it is defined', () => {
  itIsAMistake([
    ['bundle: an unknown field', () => defineBundle(wrong({ name: 'b', tool: [] })), /Did you mean "tools"\?/],
    ['bundle: a bad name', () => defineBundle({ name: 'a b' }), /"a b" is not a bundle name/],
    ['bundle: a tool in the place of a list', () => defineBundle({ name: 'b', tools: wrong(tool({})) }), /tools/],
    [
      'bundle: a setup that is not a function',
      () => defineBundle({ name: 'b', setup: wrong({}) }),
      /setup must be a function/,
    ],
    ['bundle: another bundle by selector', () => defineBundle({ name: 'b', include: ['bundle:c'] }), /extends/],
    ['bundle: requires that are a number', () => defineBundle({ name: 'b', requires: wrong(5) }), /requires/],
    [
      'bundle: an unknown condition',
      () => defineBundle({ name: 'b', when: wrong({ platfrom: 'linux' }) }),
      /Did you mean "platform"\?/,
    ],
    [
      'bundle: extends one that does not exist',
      () => createCrib({ bundles: [{ name: 'files' }, { name: 'b', extends: 'file' }] }),
      /Did you mean "files"\?/,
    ],
    ['bundle: not an object', () => defineBundle(wrong(undefined)), /bundle must be an object/],
    [
      'extension: an unknown hook',
      () => defineExtension(wrong({ name: 'x', onerror: () => {} })),
      /Did you mean "onError"\?/,
    ],
    ['extension: no name', () => defineExtension(wrong({ before: () => {} })), /needs a name/],
    ['extension: not an object', () => defineExtension(wrong(null)), /extension must be an object/],
  ]);
});

describe('a mistake in a profile is an error at start', () => {
  itIsAMistake([
    ['an unknown key', () => profile({ includes: [] }), /Profile "only" has no "includes".*"include"/],
    ['an unknown criterion', () => profile({ include: [{ tgs: ['x'] }] }), /Did you mean "tags"\?/],
    ['an unknown prefix', () => profile({ include: ['tags:x'] }), /Did you mean "tag"\?/],
    ['an empty selector', () => profile({ exclude: [''] }), /not a selector/],
    [
      'an entry of nothing, as YAML makes it of a comment',
      () => profile({ include: [null] }),
      /null is not a selector/,
    ],
    ['a selector that is a BigInt', () => profile({ exclude: [5n] }), /not a selector/],
    ['a selector that is neither name nor glob', () => profile({ include: ['a b'] }), /"a b"/],
    ['selectors that are an object', () => profile({ include: { tags: ['x'] } }), /list of selectors/],
    [
      'an unknown bundle',
      () => createCrib({ bundles: [{ name: 'files' }], profiles: { only: { essential: 'file' } } }),
      /"file".*Did you mean "files"\?/,
    ],
    ['an unknown exposure', () => profile({ expose: 'serch' }), /all, search, script/],
    ['an unknown key of its policy', () => profile({ policy: { retrys: 1 } }), /profile "only".*"retries"/],
    ['settings that JSON cannot carry', () => profile({ settings: { now: () => 1 } }), /"only"/],
    ['something that is not an object', () => profile('all'), /Profile "only" must be an object/],
  ]);
});

describe('an invalid caller is an error when the chest is opened', () => {
  itIsAMistake([
    ['an unknown key', () => caller({ role: ['x'] }), /Did you mean "roles"\?/],
    ['a role that is a text', () => caller({ roles: 'admin' }), /"roles" of a caller must be a list/],
    [
      'a credential that is null',
      () => caller({ credential: null }),
      /"credential" of a caller must be one returned by/,
    ],
    [
      'a credential that is a text',
      () => caller({ credential: 'key' }),
      /"credential" of a caller must be one returned by/,
    ],
    [
      'a key without its id',
      () => caller({ credential: { kind: 'key' } }),
      /"credential" of a caller must be one returned by/,
    ],
    [
      'a credential of another kind',
      () => caller({ credential: { kind: 'sudo' } }),
      /"credential" of a caller must be one returned by/,
    ],
    ['an empty id', () => caller({ id: '' }), /"id"/],
    ['an id that is a number', () => caller({ id: 5 }), /"id".*got 5/],
    ['an approver that is not a function', () => caller({ approve: true }), /"approve".*function/],
    ['profiles that are a text', () => caller({ profiles: '*' }), /"profiles"/],
    ['null', () => caller(null), /caller must be an object/],
    ['a list', () => caller([]), /caller must be an object/],
    [
      'a profile that does not exist',
      async () => (await createCrib({ profiles: { reader: {} } })).open('raeder'),
      /Did you mean "reader"\?/,
    ],
    [
      'a profile the caller may not use',
      async () => (await createCrib({ profiles: { admin: {} } })).open('admin', { profiles: ['read*'] }),
      /may not use/,
    ],
  ]);
});

describe('invalid options of a call give a failed result, not an exception', () => {
  it.each<[string, unknown, RegExp]>([
    ['an unknown option', { timeout: 5 }, /Did you mean "timeoutMs"\?/],
    ['a signal that is none', { signal: { aborted: false } }, /signal.*AbortSignal/],
    ['a time of nothing', { timeoutMs: 0 }, /timeoutMs/],
    ['a time that is a text', { timeoutMs: 'soon' }, /timeoutMs/],
    ['a time that is a symbol', { timeoutMs: Symbol('soon') }, /timeoutMs/],
    ['retries below zero', { retries: -1 }, /retries/],
    ['retries that cannot be compared', { retries: Object.create(null) }, /retries/],
    ['null', null, /must be an object/],
    ['a list', [], /must be an object/],
    ['a text', 'fast', /must be an object/],
  ])('%s', async (_, options, message) => {
    const chest = await (await createCrib({ tools: [tool({})] })).open();
    const result = await chest.call('tool', {}, wrong(options));
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'invalid_input', message: expect.stringMatching(message) },
    });
  });
});
