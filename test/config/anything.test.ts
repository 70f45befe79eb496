// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ToolcribError } from '../../src/core/tool-error.ts';
import { loadConfig } from '../../src/crib/config/load-config.ts';
import { writeFolder } from './write.ts';

const CONTRACT = readFileSync(join(import.meta.dirname, 'fixtures/contract.yaml'), 'utf8');

/** Loads texts one after another; a configuration error counts as an answer. */
function createLoader(): (text: string) => Promise<void> {
  const cwd = writeFolder();
  return async (text) => {
    writeFileSync(join(cwd, 'toolcrib.yaml'), text);
    try {
      await loadConfig({ cwd, env: {} });
    } catch (error) {
      if (!(error instanceof ToolcribError) || error.code !== 'invalid_config') throw error;
      expect(error.message).toMatch(/toolcrib\.yaml/);
    }
  };
}

describe('any input is a configuration or an error that says why not', () => {
  it('for any text', async () => {
    await fc.assert(fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 200 }), createLoader()));
  });

  it('for text of the characters that mean something in YAML', async () => {
    const text = fc.string({ unit: fc.constantFrom(...'{}[]:,-?&*!|>\'"%@`#<~$ \n\tab1'), maxLength: 80 });
    await fc.assert(fc.asyncProperty(text, createLoader()), { numRuns: 500 });
  });

  it('for the example of the contract with a piece missing, doubled or changed', async () => {
    const edit = fc.record({
      at: fc.nat(CONTRACT.length),
      length: fc.nat(40),
      put: fc.oneof(fc.constant(''), fc.string({ maxLength: 5 }), fc.constant('null'), fc.constant('${X}')),
    });
    const load = createLoader();
    const change = ({ at, length, put }: { at: number; length: number; put: string }) =>
      load(CONTRACT.slice(0, at) + put + CONTRACT.slice(at + length));
    await fc.assert(fc.asyncProperty(edit, change), { numRuns: 150 });
  });

  it('for any data in any section', async () => {
    const key = fc.constantFrom(
      'sources',
      'mcpServers',
      'tools',
      'bundles',
      'profiles',
      'secrets',
      'extensions',
      'store',
    );
    const load = createLoader();
    const data = fc.dictionary(key, fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(data, (value) => load(JSON.stringify(value))),
      { numRuns: 300 },
    );
  });
});
