import { isRecord, type JsonSchema } from '../../../../core/json.ts';
import type { Operation, Reading } from '../reading.ts';
import { followRefs } from './local-refs.ts';
import { toWholeSchema } from './whole-schema.ts';

/** What an operation answers, where it answers in one way only: with JSON of one shape. */
export function outputOf({ fields }: Operation, { description, responses }: Reading): JsonSchema | undefined {
  if (!isRecord(fields.responses)) return undefined;
  const good = Object.entries(fields.responses).filter(([status]) => /^2(\d\d|XX)$/i.test(status));
  const [only, ...others] = good;
  if (only === undefined || others.length > 0) return undefined;
  const { content } = followRefs(description, only[1], `its response ${only[0]}`);
  const [media, ...more] = isRecord(content) ? Object.entries(content) : [];
  if (media === undefined || more.length > 0 || !/^application\/([\w.-]+\+)?json\b/i.test(media[0])) return undefined;
  const schema = isRecord(media[1]) ? media[1].schema : undefined;
  if (!isRecord(schema)) return undefined;
  const part = responses.convert(schema);
  const isTelling = Object.keys(part.schema).some((key) => key !== 'description');
  return isTelling ? toWholeSchema(part.schema, part.uses, responses) : undefined;
}
