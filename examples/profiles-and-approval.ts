// Profiles say what one kind of caller may use; approval asks a person before something is destroyed.
import assert from 'node:assert/strict';
import { type ApprovalRequest, createCrib, defineTool } from 'toolcrib';

const files = new Map([['notes.txt', 'hello']]);
const path = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
  additionalProperties: false,
} as const;

const readFile = defineTool({
  name: 'read_file',
  description: 'Read a file',
  input: path,
  effects: { readOnly: true },
  tags: ['read'],
  run: (input) => files.get(input.path) ?? null,
});
const deleteFile = defineTool({
  name: 'delete_file',
  description: 'Delete a file for good',
  input: path,
  effects: { destructive: true },
  policy: { access: { roles: ['dev'] } },
  run: (input) => files.delete(input.path),
});

const crib = await createCrib({
  tools: [readFile, deleteFile],
  profiles: {
    reader: { include: ['tag:read'] },
    editor: { policy: { rates: [{ scope: 'caller', amount: 10, perMs: 60_000 }] } },
  },
});

// A reader has no delete_file: it is neither listed nor callable.
const reader = await crib.open('reader', { id: 'ann', roles: ['dev'] });
assert.deepEqual(
  reader.list().map((spec) => spec.name),
  ['read_file'],
);
const hidden = await reader.call('delete_file', { path: 'notes.txt' });
assert(hidden.status === 'failed' && hidden.error.code === 'unknown_tool');

// Without the role it is not there either, whatever the profile.
const guest = await crib.open('editor', { id: 'guest' });
assert.equal(guest.get('delete_file'), undefined);

// An editor sees it, and a person is asked about the very arguments that will be used.
const asked: ApprovalRequest[] = [];
const answers = [false, true];
const editor = await crib.open('editor', {
  id: 'bob',
  roles: ['dev'],
  approve: async (request) => {
    asked.push(request);
    return answers.shift() ?? false;
  },
});
const denied = await editor.call('delete_file', { path: 'notes.txt' });
assert(denied.status === 'failed' && denied.error.code === 'denied');
assert(files.has('notes.txt'));
const approved = await editor.call('delete_file', { path: 'notes.txt' });
assert(approved.ok && !files.has('notes.txt'));
assert.deepEqual(
  asked.map((request) => [request.tool, request.arguments, request.reason]),
  [
    ['delete_file', { path: 'notes.txt' }, 'it is destructive'],
    ['delete_file', { path: 'notes.txt' }, 'it is destructive'],
  ],
);

// Who wants to know why, asks.
console.log(crib.explain({ id: 'guest' }, 'editor', 'delete_file'));
await crib.close();
