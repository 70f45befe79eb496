import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Pool } from 'undici';

// node raw-gateway.ts PORT URL, or PORT COMMAND ARGUMENTS: copies bytes, and does nothing else. No gateway of Node is cheaper.
const [port, target = '', ...args] = process.argv.slice(2);
const pass = target.startsWith('http') ? overHttp(new URL(target)) : overPipes(target, args);

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => pass(Buffer.concat(chunks), request, response));
}).listen(Number(port), '127.0.0.1');

type Pass = (body: Buffer, request: IncomingMessage, response: ServerResponse) => void;

function overHttp(url: URL): Pass {
  const pool = new Pool(url.origin, { connections: 256 });
  return (body, { method = 'POST' }, response) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    pool
      .stream({ path: url.pathname, method: method as 'POST', headers, body }, ({ statusCode, headers: answered }) => {
        response.writeHead(statusCode, { 'content-type': String(answered['content-type']) });
        return response;
      })
      .catch(() => response.destroy());
  };
}

function overPipes(command: string, given: readonly string[]): Pass {
  const { stdin, stdout } = spawn(command, given, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<string, ServerResponse>();
  let rest: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; from = end + 1, end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...rest, chunk.subarray(from, end)]);
      rest = [];
      const id = idIn(line);
      waiting.get(id)?.writeHead(200, { 'content-type': 'application/json', 'content-length': line.length }).end(line);
      waiting.delete(id);
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  });
  return (body, _request, response) => {
    const id = idIn(body);
    if (id === '') response.writeHead(202).end();
    else waiting.set(id, response);
    stdin.cork();
    stdin.write(body);
    stdin.write('\n');
    stdin.uncork();
  };
}

function idIn(message: Buffer): string {
  return /"id":(\d+)/.exec(message.toString('latin1', 0, 200))?.[1] ?? '';
}
