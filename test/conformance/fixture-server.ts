// The server behind the gateway that the conformance suite looks at.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createFixture, createState } from './fixture.ts';

let server: ReturnType<typeof createFixture> | undefined;
const state = createState(() => void server?.sendToolListChanged());
serveStdio(() => {
  server = createFixture(state);
  return server;
});
