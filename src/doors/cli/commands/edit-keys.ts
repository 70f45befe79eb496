import { defined } from '../../../core/read-options.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import type { Crib } from '../../../crib/crib.ts';
import type { CreatedKey, KeyInfo } from '../../../identity/api-keys.ts';
import { toShownKey, toTime } from '../../shown.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, readExpiry, usage } from '../flags.ts';
import { whoIsHere, withStore } from '../open-crib.ts';
import { note, print, printJson, toLine } from '../output.ts';
import { flexible, printTable } from '../table.ts';

/** `toolcrib keys`: lists, creates and revokes API keys. */
export function editKeys({ words, flags }: Invocation): Promise<ExitCode> {
  const [verb, id] = words;
  const making = ['name', 'caller', 'role', 'permission', 'allow-profile', 'expires'] as const;
  const foreign = verb === 'create' ? undefined : making.find((flag) => flags[flag] !== undefined);
  if (foreign !== undefined) throw usage(`--${foreign} can only be used with "toolcrib keys create".`, 'keys');
  switch (verb) {
    case undefined:
      return withStore(flags, (crib) => listKeys(crib, flags));
    case 'create':
      return createKey(flags, id);
    case 'revoke':
      if (id === undefined) throw usage('"toolcrib keys revoke" needs an ID. "toolcrib keys" lists them.', 'keys');
      return withStore(flags, (crib) => revokeKey(crib, flags, id));
    default:
      throw usage(`keys takes create or revoke, not "${verb}".`, 'keys');
  }
}

async function listKeys(crib: Crib, flags: Flags): Promise<ExitCode> {
  const keys = await crib.keys.list();
  if (flags.json === true) printJson({ keys: keys.map(toShownKey) });
  else if (keys.length === 0) note('No API keys found. "toolcrib keys create --name NAME" creates one.');
  else {
    printTable(['ID', flexible('NAME'), 'CALLER', 'ROLES', 'PROFILES', 'EXPIRES', 'STATE'], keys.map(toRow));
  }
  return 0;
}

function createKey(flags: Flags, word: string | undefined): Promise<ExitCode> {
  const { name, caller, role, permission, profile, expires } = flags;
  const allowed = flags['allow-profile'];
  if (word !== undefined || name === undefined) throw usage('"toolcrib keys create" needs --name NAME.', 'keys');
  if (profile !== undefined)
    throw usage('Use --allow-profile GLOB instead of --profile to limit what a key can open.', 'keys');
  const request = {
    name,
    ...defined({ caller, roles: role, permissions: permission, profiles: allowed }),
    ...(expires !== undefined && readExpiry(expires)),
  };
  return withStore(flags, async (crib) => {
    const created = await crib.keys.create(request, whoIsHere());
    if (flags.json === true) printJson({ key: created.key, ...toShownKey(created.info), opens: created.opens });
    else print(created.key);
    await explainKey(crib, created);
    return 0;
  });
}

/** Explains a new key to the operator, on stderr so that the key itself can be piped. */
async function explainKey(crib: Crib, { info, opens }: CreatedKey): Promise<void> {
  note('The key is shown only once. Toolcrib stores only its hash.');
  const until = info.expiresAt === undefined ? 'does not expire' : `expires ${toTime(info.expiresAt)}`;
  const profiles = opens.length === 0 ? 'no profile' : opens.join(', ');
  note(toLine(`${info.id} ("${info.name}") is for caller ${info.caller}, opens ${profiles}, and ${until}.`));
  for (const problem of await crib.keys.problems()) note(toLine(problem));
}

async function revokeKey(crib: Crib, flags: Flags, id: string): Promise<ExitCode> {
  const { applied, rejected } = await crib.keys.revoke(id, whoIsHere());
  const [refusal] = rejected;
  if (refusal !== undefined) throw new ToolcribError('failed', `The key "${id}" was not revoked: ${refusal.reason}.`);
  if (flags.json === true) printJson({ revoked: applied });
  else print(`${id} revoked`);
  return 0;
}

function toRow({ id, name, caller, roles, profiles, expiresAt, state }: KeyInfo): readonly string[] {
  const ofRoles = profiles === undefined ? 'of its roles' : profiles.join(', ');
  return [id, name, caller, roles.join(', '), ofRoles, expiresAt === undefined ? 'never' : toTime(expiresAt), state];
}
