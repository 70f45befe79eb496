import { crc32 } from 'node:zlib';
import type { ToolSpec } from '../core/tool-spec.ts';
import { eachText, FIELDS, type TakeText } from './search-texts.ts';

// Of the spec at hand. One function for all of them: another one for each would be slow for the first thousands.
let all = '';
let marks = 0;
const take: TakeText = (place, text) => {
  all += text;
  marks = Math.imul(marks ^ (text.length * FIELDS.length + place), 0x9e3779b1); // where a text ends and stands counts
};

/** A number that tells what is searched of one tool from what is searched of others; equal texts, equal numbers. */
export function fingerprintSpec(spec: ToolSpec, bundles: readonly string[] = []): number {
  all = '';
  marks = 0;
  eachText(spec, bundles, take);
  // Done by the machine at once, which a start with ten thousand tools would wait for otherwise.
  return (marks >>> 11) * 2 ** 32 + crc32(all);
}
