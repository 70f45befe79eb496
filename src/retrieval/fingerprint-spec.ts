import { crc32 } from 'node:zlib';
import type { ToolSpec } from '../core/tool-spec.ts';
import { eachText, FIELDS } from './search-texts.ts';

/** A number that tells what is searched of one tool from what is searched of others; equal texts, equal numbers. */
export function fingerprintSpec(spec: ToolSpec, bundles: readonly string[] = []): number {
  let all = '';
  let marks = 0;
  eachText(spec, bundles, (place, text) => {
    all += text;
    marks = Math.imul(marks ^ (text.length * FIELDS.length + place), 0x9e3779b1); // where a text ends and stands counts
  });
  // Done by the machine at once, which a start with ten thousand tools would wait for otherwise.
  return (marks >>> 11) * 2 ** 32 + crc32(all);
}
