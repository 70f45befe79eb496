import type { Chest } from '../../../crib/chest.ts';
import { definitionsOf, TOKEN_FORMATS, type TokenFormat, tokensOf } from '../../../formats/token-cost.ts';
import { toTime } from '../../shown.ts';
import { notFound, ok, refuse } from '../answers.ts';
import { openToList, type Route, type RouteRequest } from '../route.ts';
import { anyObject, choice, flag, list, object, shortText, text, time, whole } from '../shapes.ts';
import { PROFILE } from './tool-routes.ts';

/** The format used where only one token figure is shown. */
const USUAL_FORMAT: TokenFormat = 'openai';
const TOKENS = whole('Estimated token cost of its definitions in the OpenAI format.');

/** Routes of bundles and profiles. */
export const PROFILE_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/bundles',
    group: 'profiles',
    says: 'Lists the bundles of a profile.',
    who: 'caller',
    query: { 'profile?': PROFILE },
    answers: {
      200: {
        says: 'All visible bundles, active or not.',
        schema: object({
          bundles: list(
            object({
              name: text(),
              'description?': text(),
              tools: list(text()),
              requires: list(text()),
              active: flag(),
              essential: flag('Always active.'),
              tokens: TOKENS,
            }),
          ),
        }),
      },
    },
    run: listBundles,
  },
  {
    method: 'GET',
    path: '/api/profiles',
    group: 'profiles',
    says: 'Lists the profiles that the caller may use.',
    who: 'caller',
    answers: {
      200: {
        says: 'The profiles and the tools that each shows at first.',
        schema: object({
          profiles: list(
            object({ name: text(), default: flag(), toolCount: whole(), tokens: TOKENS, active: list(text()) }),
          ),
        }),
      },
    },
    run: listProfiles,
  },
  {
    method: 'GET',
    path: '/api/profiles/{name}/definitions',
    group: 'profiles',
    says: 'Returns the tools that a profile shows at first, in the format of a vendor.',
    who: 'caller',
    query: { 'format?': choice(TOKEN_FORMATS, `The format. Default: ${USUAL_FORMAT}.`) },
    answers: {
      200: {
        says: 'Definitions to send with a request to the model, and text for the prompt.',
        schema: object({
          profile: text(),
          format: text(),
          tools: list(anyObject('A definition in the format of the vendor.')),
          instructions: text('Instructions of the active bundles for the prompt; may be empty.'),
        }),
      },
    },
    run: defineTools,
  },
  {
    method: 'PUT',
    path: '/api/profiles/{name}/active',
    group: 'profiles',
    says: 'Sets the bundles that are active at first in a profile, at every door. Changes nothing if a bundle is unknown.',
    who: 'operator',
    body: object({ active: list(shortText('A bundle.')) }),
    answers: {
      200: {
        says: 'The active bundles.',
        schema: object({ profile: text(), active: list(text()), by: text(), at: time() }),
      },
    },
    run: setActive,
  },
];

async function listBundles(asked: RouteRequest) {
  const { profile } = asked.query as { readonly profile?: string }; // as its schema demands
  const { crib } = asked;
  const chest = await openToList(asked, profile);
  const [available, active, essential] = [chest.available(), chest.active(), chest.essential()];
  const bundles = available.map(async (name) => {
    const bundle = crib.bundles.get(name);
    const specs = (bundle?.members ?? []).flatMap((member) => chest.get(member) ?? []);
    const description = crib.bundles.info(name)?.description;
    return {
      name,
      ...(description !== undefined && { description }),
      tools: specs.map((spec) => spec.name),
      requires: (bundle?.requires ?? []).filter((other) => available.includes(other)),
      active: active.includes(name),
      essential: essential.includes(name),
      tokens: await tokensOf(specs, USUAL_FORMAT, 'estimate'),
    };
  });
  return ok({ bundles: await Promise.all(bundles) });
}

async function listProfiles({ crib, asker }: RouteRequest) {
  const usual = await crib.server.openAtDoor(undefined, asker.caller).catch(() => undefined); // the caller may not be allowed to use it
  const names = new Set([...(usual === undefined ? [] : [usual.profile]), ...asker.profiles]);
  const profiles = [...names].map(async (name) => {
    const chest = name === usual?.profile ? usual : await crib.server.openAtDoor(name, asker.caller);
    return describeProfile(chest, chest === usual);
  });
  return ok({ profiles: await Promise.all(profiles) });
}

async function describeProfile(chest: Chest, isDefault: boolean) {
  const specs = chest.list();
  return {
    name: chest.profile,
    default: isDefault,
    toolCount: specs.length,
    tokens: await tokensOf(specs, USUAL_FORMAT, 'estimate'),
    active: chest.active(),
  };
}

async function defineTools(asked: RouteRequest) {
  const { format = USUAL_FORMAT } = asked.query as { readonly format?: TokenFormat }; // as its schema demands
  const chest = await openToList(asked, asked.params.name);
  const tools = await definitionsOf(chest.list(), format);
  return ok({ profile: chest.profile, format, tools, instructions: chest.instructions() });
}

async function setActive(asked: RouteRequest) {
  const { crib, asker, params } = asked;
  const { name = '' } = params;
  const { active } = asked.body as { readonly active: readonly string[] }; // as its schema demands
  await openToList(asked, name);
  const { rejected } = await crib.server.activeSets.put(name, active, asker.caller.id ?? 'operator');
  if (rejected.length > 0) {
    const issues = rejected.map((refusal) => ({
      path: `/active/${active.indexOf(refusal.name)}`,
      message: `${refusal.name}: ${refusal.reason}`,
    }));
    const message = `The active bundles of profile "${name}" were not changed.`;
    return refuse(400, { code: 'invalid_input', message, retryable: false, issues });
  }
  const stored = await crib.server.activeSets.get(name);
  if (stored === undefined) return notFound(`No active bundles are stored for profile "${name}".`);
  return ok({ profile: name, active: stored.names, by: stored.by, at: toTime(stored.at) });
}
