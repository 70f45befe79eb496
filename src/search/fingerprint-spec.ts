import { crc32 } from 'node:zlib';
import type { ToolSpec } from '../core/tool-spec.ts';
import { eachText, FIELDS, type TakeText } from './search-texts.ts';

/** A number made of the texts that are taken; equal texts at equal places, equal numbers. */
export interface Fingerprint {
  readonly take: TakeText;
  value(): number;
}

/** Of no texts yet. */
export function createFingerprint(): Fingerprint {
  let all = '';
  let marks = 0;
  return {
    take(place, text) {
      all += text;
      marks = Math.imul(marks ^ (text.length * FIELDS.length + place), 0x9e3779b1); // where a text ends and stands counts
    },
    // Done by the machine at once, which a start with ten thousand tools would wait for otherwise.
    value: () => (marks >>> 11) * 2 ** 32 + crc32(all),
  };
}

/** The fingerprint of what is searched of a tool. */
export function fingerprintSpec(spec: ToolSpec, bundles: readonly string[] = []): number {
  const { take, value } = createFingerprint();
  eachText(spec, bundles, take);
  return value();
}
