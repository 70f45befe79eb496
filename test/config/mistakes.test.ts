import { describe, expect, it } from 'vitest';
import { readConfigObject } from '../../src/crib/config/load-config.ts';
import { loadYaml, messageOf, mistakesIn } from './write.ts';

describe('an error is shown with file, line, column, the wrong text and the nearest known name', () => {
  it('for an unknown key', async () => {
    expect(await mistakesIn('profiles:\n  assistant:\n    inclde: [add]\n')).toBe(
      [
        'toolcrib.yaml:3:5: profiles.assistant.inclde is not known: profiles.assistant has no "inclde". Did you mean "include"?',
        '  3 |     inclde: [add]',
        '    |     ^',
      ].join('\n'),
    );
  });

  it('for a wrong value', async () => {
    expect(await mistakesIn('server: { host: 127.0.0.1, port: web }')).toBe(
      [
        'toolcrib.yaml:1:34: server.port must be a whole number, got "web".',
        '  1 | server: { host: 127.0.0.1, port: web }',
        '    |                                  ^',
      ].join('\n'),
    );
  });

  it('for a key that is missing, at the thing that needs it', async () => {
    expect(await mistakesIn('access:\n  jwt: {}\n')).toMatch(/^toolcrib\.yaml:2:3: access\.jwt needs "issuer"\.\n/);
  });

  it('for an entry of a list', async () => {
    const text = 'profiles:\n  a:\n    rules:\n      - { tools: x, when: {}, otherwise: maybe }\n';
    expect(await mistakesIn(text)).toMatch(
      /:4:42: profiles\.a\.rules\[0\]\.otherwise must be one of approve, deny, got "maybe"/,
    );
  });

  it('for data of an alias or a merge key, at the place where it is written', async () => {
    expect(await mistakesIn('profiles:\n  a: &a\n    expose: none\n  b: *a\n')).toMatch(/:3:13: .*\n[\s\S]*:3:13: /);
    expect(await mistakesIn('profiles:\n  a: &a {}\n  b: { <<: { expose: none } }\n')).toMatch(
      /:3:22: profiles\.b\.expose/,
    );
  });

  it('for a file in another folder, with its full path', async () => {
    const { folder } = await loadYaml('');
    const message = await messageOf(readConfigObject({ tols: [] }, { folder, env: {} }));
    expect(message).toBe('config: tols is not known: the configuration has no "tols". Did you mean "tools"?');
  });

  it('in a long line, cut around it', async () => {
    const services = Array.from({ length: 40 }, (_, index) => `a${index}: ./b, `).join('');
    const message = await mistakesIn(`services: { ${services} c: 5, ${services.replaceAll('a', 'z')} }`);
    expect(message.split('\n').map((line) => line.length < 140)).toEqual([true, true, true]);
    expect(message).toMatch(/…[^\n]* c: 5[^\n]*…\n/);
    const [, shown = '', caret = ''] = message.split('\n');
    expect(shown[caret.indexOf('^')]).toBe('5');
  });

  it('without control characters of the file', async () => {
    expect(await mistakesIn('profiles: { a: { "\\e[31mred": 1 } }')).not.toContain('\x1b');
  });
});

describe('all errors of a file are reported at once', () => {
  it('in the order of the schema walk, each with its line', async () => {
    const message = await mistakesIn('server: { port: x }\nstore: {}\nonDuplicate: maybe\n');
    expect(message).toMatch(/^toolcrib\.yaml has 3 mistakes:\n/);
    expect(message.match(/toolcrib\.yaml:\d+:\d+/g)).toEqual([
      'toolcrib.yaml:1:17',
      'toolcrib.yaml:2:1',
      'toolcrib.yaml:3:14',
    ]);
  });

  it('but not more than twenty', async () => {
    const message = await mistakesIn(Array.from({ length: 30 }, (_, index) => `key${index}: 1`).join('\n'));
    expect(message).toMatch(/^toolcrib\.yaml has 20 or more mistakes:\n/);
    expect(message.match(/is not known/g)).toHaveLength(20);
  });
});

type Row = readonly [what: string, text: string, message: RegExp];

describe('an error is described in words', () => {
  it.each<Row>([
    ['a number for a text', 'defaultProfile: 12', /defaultProfile must be text, got 12; put it in quotes/],
    ['a text for a number', 'server: { port: "80" }', /must be a whole number, got "80"; remove the quotes/],
    ['a fraction', 'server: { port: 1.5 }', /server\.port must be a whole number, got 1\.5/],
    ['too small a number', 'server: { port: -1 }', /server\.port must be at least 0, got -1/],
    ['too large a number', 'server: { port: 70000 }', /server\.port must be at most 65535, got 70000/],
    ['no number at all', 'server: { port: .nan }', /server\.port must be a whole number, got NaN/],
    ['YAML 1.1 yes', 'access: { keys: yes }', /true or false, got "yes"; YAML 1\.2 accepts only true and false/],
    ['YAML 1.1 off', 'access: { keys: off }', /got "off"; YAML 1\.2/],
    ['a list for a map', 'profiles: []', /profiles must be a map, got a list/],
    ['a map for a list', 'tools: {}', /tools must be a list, got an object/],
    ['a map for a single value', 'onDuplicate: {}', /onDuplicate must be one of skip, error, got an object/],
    ['sources that are a list', 'sources: [a]', /sources must be a map from names to entries/],
    ['servers that are a text', 'mcpServers: a', /mcpServers must be a map from names to entries/],
    ['a text for everything', 'just words', /the configuration must be a map, got "just words"/],
    ['a list for everything', '- a', /the configuration must be a map, got a list/],
    ['an empty value', 'defaultProfile:', /defaultProfile is empty; it must be text/],
    ['access that is empty by comment, which would let callers in', 'access:', /access is empty; it must be a map/],
    ['access that is null', 'access: null', /access is empty; it must be a map/],
    ['an empty text', 'defaultProfile: ""', /defaultProfile must not be empty/],
    ['a list of selectors that is empty by comment', 'profiles: { a: { include: } }', /a\.include is empty/],
    [
      'an empty entry of a list',
      'profiles:\n  a:\n    include:\n      - #x\n',
      /include\[0\] is empty: YAML reads "#" as/,
    ],
    ['an unknown word', 'profiles: { a: { expose: serch } }', /expose must be one of all, search, script, got "serch"/],
    ['a name that cannot be', 'profiles: { "a b": {} }', /profiles\["a b"\] is not a name: use letters/],
    ['an address without a scheme', 'access: { jwt: { issuer: id.example.com } }', /issuer must be a URL that starts/],
    ['an address of another scheme', 'access: { jwt: { issuer: "file:///x" } }', /issuer must be a URL that starts/],
    [
      'a time that is none',
      'profiles: { a: { policy: { access: { hours: { from: "9", to: "10:00" } } } } }',
      /a time such/,
    ],
    ['a store of another kind', 'store: { url: "mysql://x" }', /store\.url must be sqlite:PATH or postgres:/],
    [
      'a host with a scheme',
      'secrets: { a: { env: A, hosts: ["https://x"] } }',
      /hosts\[0\] must be a host: example\.com/,
    ],
    ['a secret of two places', 'secrets: { a: { env: A, file: a } }', /secrets\.a has "env" and "file"; keep one/],
    ['a secret of no place', 'secrets: { a: { hosts: [x] } }', /secrets\.a needs one of env, file, command/],
    ['a secret command that is a text', 'secrets: { a: { command: "op read" } }', /secrets\.a\.command must be a list/],
    ['a secret command of nothing', 'secrets: { a: { command: [] } }', /secrets\.a\.command must not be empty/],
    [
      'an extension that is near a known one',
      'extensions: { aproval: { mode: always } }',
      /has no "aproval"\. Did you mean "approval"\?/,
    ],
    ['an extension of your own without its module', 'extensions: { zzz: {} }', /extensions\.zzz needs "module"/],
    ['true for what can only be off', 'extensions: { audit: true }', /extensions\.audit must be false/],
  ])('%s', async (_, text, message) => {
    expect(await mistakesIn(text)).toMatch(message);
  });

  it.each<Row>([
    ['a number for a version', 'tools: [{ name: a, run: { kind: x }, version: 1.10 }]', /must be text.*in quotes/],
    ['a tool of no run', 'tools: [{ name: a }]', /tools\[0\] needs one of run, tool_type/],
    ['a tool whose run has no kind', 'tools: [{ name: a, run: {} }]', /tools\[0\]\.run needs "kind"/],
    ['a tool of a bad name', 'tools: [{ name: "a.b", run: { kind: x } }]', /tools\[0\]\.name must be letters, digits/],
    ['an unknown key of a tool', 'tools: [{ name: a, run: { kind: x }, efects: {} }]', /Did you mean "effects"\?/],
  ])('%s, which fails only that tool', async (_, text, message) => {
    const written = `${text.slice(0, -1)}, { name: good, run: { kind: x } }]`;
    const { config, problems, toolIndexes } = await loadYaml(written);
    expect({ tools: config.tools, toolIndexes }).toMatchObject({ tools: [{ name: 'good' }], toolIndexes: [1] });
    expect(problems).toEqual([
      expect.objectContaining({
        source: 'inline',
        file: 'toolcrib.yaml',
        line: 1,
        message: expect.stringMatching(message),
      }),
    ]);
  });

  it('for a key without a similar one, with all known keys', async () => {
    expect(await mistakesIn('results: { zzz: 1 }')).toMatch(
      /has no "zzz"\. Known keys: offloadBytes, keepMs, quotaBytes, quotaBytesPerCaller\./,
    );
  });
});

describe('a selector is checked at its place', () => {
  it.each<Row>([
    [
      'an unknown prefix',
      'profiles: { a: { include: ["bundel:x"] } }',
      /:1:28: .*include\[0\] is not a valid selector: .*"bundle"/,
    ],
    [
      'an unknown criterion',
      'profiles: { a: { exclude: [{ tag: x }] } }',
      /exclude\[0\] is not a valid selector: .*"tags"/,
    ],
    ['one that is not a glob', 'bundles: { a: { include: "a b" } }', /bundles\.a\.include is not a valid selector/],
    [
      'one of a rule',
      'profiles: { a: { rules: [{ tools: ["x:y"], when: {}, otherwise: deny }] } }',
      /tools\[0\] is not a valid selector/,
    ],
    ['one of the audit', 'extensions: { audit: { requireFor: ["!"] } }', /requireFor\[0\] is not a valid selector/],
  ])('%s', async (_, text, message) => {
    expect(await mistakesIn(text)).toMatch(message);
  });
});

describe('a possible credential is not shown', () => {
  it.each([
    ['a secret in place of its declaration', 'secrets: { github: ghp_credential }'],
    ['a variable of a child that is a list', 'sources: {}\nsecrets: { a: { env: [ghp_credential] } }'],
    [
      'a secret as the secret of a webhook',
      'extensions: { approval: { webhook: { url: "https://x.y", secret: "ghp credential" } } }',
    ],
    ['a key that is not text', 'retrieval: { embeddings: { url: "https://x.y", model: m, key: [ghp_credential] } }'],
  ])('%s', async (_, text) => {
    const message = await mistakesIn(text);
    expect(message).toMatch(/toolcrib\.yaml:\d+:\d+: /);
    expect(message).not.toMatch(/ghp.credential/);
  });

  it('the value of a variable', async () => {
    const text = `server: { port: "\${PORT}" }\nonDuplicate: "\${WHAT}"\n`;
    const message = await mistakesIn(text, { PORT: 'hidden-1', WHAT: 'hidden-2' });
    expect(message).toMatch(/server\.port must be a whole number, got "\$\{PORT\}"/);
    expect(message).toMatch(
      /onDuplicate must be one of skip, error, after its variables are expanded, got "\$\{WHAT\}"/,
    );
    expect(message).not.toContain('hidden');
  });
});
