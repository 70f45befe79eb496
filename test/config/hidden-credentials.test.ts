import { describe, expect, it } from 'vitest';
import { readConfigText } from '../../src/config/config-text.ts';
import { lookUpSecret } from '../../src/config/read-text.ts';
import { cribOf, folderWith } from '../crib/workshop.ts';
import { mistakesIn } from './write.ts';

const PASSWORD = 'Sup3rPassw0rdValue77';
const WORDS = 'correcthorsebattery';

describe('a mistake shows its line without what may be a credential', () => {
  it.each([
    ['the login of an address', `store: { url: "postgres://u:${PASSWORD}@127.0.0.1/db", urll: 1 }`],
    ['the login of a wrong address', `store: { url: "postgress://u:${PASSWORD}@127.0.0.1:1/db" }`],
    ['the login of an address that is cut', `store: { url: "postgress://user:${PASSWORD}${PASSWORD}@h/db" }`],
    [
      'the login of a webhook',
      `extensions: { approval: { webhook: { url: "https://u:${WORDS}@h.test/x", secrt: z } } }`,
    ],
    ['the address of a store in the wrong place', `store: "postgres://u:${PASSWORD}@h.test/db"`],
    ['a token in the wrong place', `server: { port: "${PASSWORD}" }`],
    [
      'the path of a webhook',
      `extensions: { approval: { webhook: { url: "https://h.test/services/T0/${PASSWORD}", secrt: z } } }`,
    ],
    [
      'the path of a webhook in the wrong place',
      `extensions: { approval: { webhook: "https://h.test/T0/${PASSWORD}" } }`,
    ],
    ['the login of an address without a scheme', `server: { host: "u:${WORDS}@h.test", prt: 1 }`],
    [
      'a variable of a server that is there twice',
      `sources:\n  a: { mcp: { command: x } }\n  a: { mcp: { command: y, env: { T: ${WORDS} } } }`,
    ],
    [
      'a header',
      `sources:\n  a: { mcp: { url: "https://h.test" } }\n  a: { mcp: { url: "https://h.test", headers: { X: "${WORDS} x" } } }`,
    ],
    ['a key', `retrieval: { embeddings: { url: "http://h.test", model: m, key: "${WORDS}", kez: 1 } }`],
    ['a token in broken YAML', `token: [${PASSWORD}\n  x: }`],
    ['a word like a token', `profiles: { p: { settings: { k: ${PASSWORD} }, settingz: 1 } }`],
    ['a word like a token behind a tab', `sources:\n\ta: { T: ${PASSWORD} }`],
  ])('%s', async (_, text) => {
    const shown = await mistakesIn(`${text}\n`);
    expect(shown).toMatch(/toolcrib\.yaml:\d+:\d+: /);
    expect(shown).not.toContain(PASSWORD.slice(0, 10));
    expect(shown).not.toContain(WORDS);
  });

  it('and its other texts stay, with the caret below the mistake', async () => {
    const shown = await mistakesIn(`store: { url: "postgres://u:${PASSWORD}@h.test/x", urll: 1 }`);
    const [, line = '', caret = ''] = shown.split('\n');
    expect(line).toContain(`://${'*'.repeat(PASSWORD.length + 2)}@h.test/x", urll: 1 }`);
    expect(caret.indexOf('^')).toBe(line.indexOf('urll'));
  });

  it('nor does a warning about a service whose module is an address', async () => {
    const crib = await cribOf(folderWith({ 'toolcrib.yaml': `services: { db: "postgres://u:${WORDS}@h/db" }` }));
    expect(crib.warnings().join()).toContain('is not an installed package');
    expect(crib.warnings().join()).not.toContain(WORDS);
  });
});

describe('a token in the place of a name', () => {
  const TOKENS = [
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJvd25lciJ9.abcdefghijklmnop0123',
  ];
  it.each(TOKENS)('is not repeated where a secret of that name is missing: %s', (token) => {
    const found = lookUpSecret(token, new Set(['github']));
    expect(found).toEqual({ mistake: expect.stringMatching(/^names a secret that is not declared under secrets/) });
    expect(JSON.stringify(found)).not.toContain(token);
  });

  it('is hidden in an excerpt, also with hyphens at its beginning', async () => {
    for (const token of TOKENS.slice(0, 2)) {
      const { show } = await readConfigText(`access: [{ issuer: "${token}" }]`, 'toolcrib.yaml');
      const shown = show({ path: ['access'], at: 'value', message: `must be a map, got "${token}"` });
      expect(shown).not.toContain(token.slice(8));
    }
  });

  it('other names are repeated', () => {
    for (const name of ['github', 'github-token', 'stripe_key_2', 'OPENAI_API_KEY_FOR_TESTS'])
      expect(lookUpSecret(name, new Set())).toEqual({ mistake: expect.stringContaining(`"${name}"`) });
  });
});
