import type { ServerResponse } from 'node:http';

/** JSON that is there as a whole. */
export interface WholeAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends an answer, or makes of it what is sent later. */
export type SendWhole = (answer: WholeAnswer) => Response;

const TYPE = 'application/json';

/** For whoever takes nothing but the answers of the web. */
export function toWebResponse({ status, text }: WholeAnswer): Response {
  return new Response(text, { status, headers: { 'content-type': TYPE } });
}

/** Writes at once what would otherwise be put into a stream and read back from it. */
export function writeWhole(outgoing: ServerResponse, { status, text }: WholeAnswer): void {
  outgoing.writeHead(status, { 'content-type': TYPE, 'content-length': Buffer.byteLength(text) }).end(text);
}
