import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { folderWith, write } from '../../crib/workshop.ts';
import { startIssuer } from '../../identity/issuer.ts';
import { execute, type Heard, type Served, serve } from './served.ts';

const PROFILES = 'defaultProfile: usual\nprofiles: { usual: {}, other: { include: ["tag:read"] } }\n';
const KEYS =
  'access: { keys: true, roles: { dev: { profiles: [usual] }, admin: { profiles: ["*"], operator: true } } }\n';

/** A caller, and an edit or a revocation that takes from it what it needs. */
interface Case {
  readonly config: string;
  credential(served: Served): Promise<string | undefined>;
  takeAway(served: Served, folder: string): Promise<unknown>;
  readonly says: string;
}

const edit = (config: string): Case['takeAway'] => {
  return ({ crib }, folder) => {
    write(folder, { 'toolcrib.yaml': `${PROFILES}${config}` });
    return crib.reload();
  };
};
const keyOf =
  (...roles: readonly string[]): Case['credential'] =>
  async ({ crib }) =>
    (await crib.keys.create({ name: 'ann', roles }, 'test')).key;

const CASES: Record<string, () => Promise<Case>> = {
  'its API key was revoked': async () => ({
    config: KEYS,
    credential: keyOf('dev'),
    takeAway: async ({ crib }) => {
      const [info] = await crib.keys.list();
      expect(await crib.keys.revoke(info?.id ?? '', 'test')).toMatchObject({ applied: [info?.id] });
    },
    says: 'its API key is now revoked',
  }),
  'API keys were turned off': async () => ({
    config: KEYS,
    credential: keyOf('dev'),
    takeAway: edit(KEYS.replace('keys: true', 'keys: false')),
    says: 'its API key is now not accepted',
  }),
  'its role lost the profile': async () => ({
    config: KEYS,
    credential: keyOf('dev'),
    takeAway: edit(KEYS.replace('[usual]', '[other]')),
    says: 'its roles no longer open the profile "usual"',
  }),
  'its role was removed': async () => ({
    config: KEYS,
    credential: keyOf('dev'),
    takeAway: edit(KEYS.replace('dev:', 'nobody:')),
    says: 'its roles no longer open the profile "usual"',
  }),
  'its role is not one of operators any more': async () => ({
    config: KEYS,
    credential: keyOf('admin'),
    takeAway: edit(KEYS.replace(', operator: true', '')),
    says: 'its roles no longer open the profile',
  }),
  'the issuer of its token is not trusted any more': async () => {
    const issuer = await startIssuer();
    const jwt = `access: { jwt: { issuer: "${issuer.url}", audience: toolcrib }, roles: { dev: { profiles: [usual] } } }\n`;
    return {
      config: jwt,
      credential: () => issuer.sign({}),
      takeAway: edit(KEYS),
      says: 'tokens are no longer accepted',
    };
  },
  'another issuer is trusted instead of that of its token': async () => {
    const [issuer, other] = [await startIssuer(), await startIssuer()];
    const jwt = `access: { jwt: { issuer: "${issuer.url}", audience: toolcrib }, roles: { dev: { profiles: [usual] } } }\n`;
    return {
      config: jwt,
      credential: () => issuer.sign({}),
      takeAway: edit(jwt.replace(issuer.url, other.url)),
      says: 'tokens of its issuer are no longer accepted',
    };
  },
  'the roles of its token lost the profile': async () => {
    const issuer = await startIssuer();
    const jwt = `access: { jwt: { issuer: "${issuer.url}", audience: toolcrib }, roles: { dev: { profiles: [usual] } } }\n`;
    return {
      config: jwt,
      credential: () => issuer.sign({}),
      takeAway: edit(jwt.replace('[usual]', '[other]')),
      says: 'its roles no longer open the profile "usual"',
    };
  },
  'a credential is now required': async () => ({
    config: '',
    credential: async () => undefined,
    takeAway: edit(KEYS),
    says: 'a credential is now required',
  }),
};

async function parked(
  one: Pick<Case, 'config' | 'credential'>,
): Promise<{ served: Served; folder: string; heard: Heard }> {
  const folder = folderWith({ 'toolcrib.yaml': `${PROFILES}${one.config}` });
  const served = await serve({ folder });
  const heard = await execute(served.ask, 'wipe', { what: 'all' }, {}, await one.credential(served));
  expect(heard).toMatchObject({ status: 202 });
  return { served, folder, heard };
}

const approve = ({ ask, token }: Served, heard: Heard) =>
  ask(`/api/approvals/${heard.json.waiting.id}`, { token, body: { decision: 'approve' } });

describe('an approved call does not run, because meanwhile', () => {
  it.each(Object.entries(CASES))('%s', async (_, make) => {
    const one = await make();
    const { served, folder, heard } = await parked(one);
    const { ask, crib, deeds, token } = served;
    await one.takeAway(served, folder);
    expect(await approve(served, heard)).toMatchObject({ status: 200 });
    onTestFinished(crib.runParked());
    const ended = await vi.waitFor(
      async () => {
        const { json } = await ask(`/api/calls/${heard.json.callId}`, { token });
        expect(json.state).toBe('ended');
        return json;
      },
      { timeout: 20_000 },
    );
    expect(ended.result).toMatchObject({ ok: false, error: { code: 'denied' } });
    expect(ended.result.error.message).toContain(one.says);
    expect(deeds.wiped).toEqual([]);
  });
});

it('a call whose caller kept its key and its roles runs after an edit', async () => {
  const { served, folder, heard } = await parked({ config: KEYS, credential: keyOf('dev') });
  await edit(KEYS.replace('[usual]', '[usual, other]'))(served, folder);
  await approve(served, heard);
  onTestFinished(served.crib.runParked());
  await vi.waitFor(() => expect(served.deeds.wiped).toEqual([{ what: 'all' }]), { timeout: 20_000 });
});
