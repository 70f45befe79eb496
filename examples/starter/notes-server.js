// A small MCP server: notes in memory. Any server that speaks stdio or HTTP is configured the same way.
// Outside of the repository of Toolcrib it needs: npm install @modelcontextprotocol/server zod
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const notes = new Map();
const text = (value) => ({ content: [{ type: 'text', text: value }] });

serveStdio(() => {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  server.registerTool(
    'add',
    {
      description: 'Keep a note under a title',
      inputSchema: z.object({ title: z.string().min(1), body: z.string() }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    async ({ title, body }) => {
      notes.set(title, body);
      return text(`Kept "${title}".`);
    },
  );
  server.registerTool(
    'find',
    {
      description: 'Find notes that contain a word',
      inputSchema: z.object({ word: z.string() }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ word }) => {
      const found = [...notes].filter((note) => note.some((part) => part.includes(word)));
      return text(found.map(([title, body]) => `${title}: ${body}`).join('\n') || 'There is none.');
    },
  );
  server.registerTool(
    'remove',
    {
      description: 'Remove a note for ever',
      inputSchema: z.object({ title: z.string() }),
      annotations: { destructiveHint: true, openWorldHint: false },
    },
    async ({ title }) => text(notes.delete(title) ? `Removed "${title}".` : `There is no note "${title}".`),
  );
  return server;
});
