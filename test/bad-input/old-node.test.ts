import { expect, it } from 'vitest';
import { requireNode } from '../../src/system/require-node.ts';

it.each(['20.20.2', '22.17.9', '18.0.0', '0.12.0'])('Node %s is answered with one sentence', (version) => {
  expect(() => requireNode(version)).toThrow(`Toolcrib requires Node 22.18 or newer; this is Node ${version}.`);
});

it.each(['22.18.0', '22.19.1', '24.0.0', '26.1.0'])('Node %s is accepted', (version) => {
  expect(() => requireNode(version)).not.toThrow();
});
