import { createServer } from 'node:http';
import { answerTo } from './echo-answer.ts';

// node echo-http.ts PORT json|events: answers by JSON, or by an event stream whose headers come first, as the SDK does.
const [port, form] = process.argv.slice(2);
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    const answer = answerTo(JSON.parse(Buffer.concat(chunks).toString()));
    if (answer === undefined) return response.writeHead(202).end();
    const text = JSON.stringify(answer);
    if (form === 'json') {
      const length = Buffer.byteLength(text);
      return response.writeHead(200, { 'content-type': 'application/json', 'content-length': length }).end(text);
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }).flushHeaders();
    return setImmediate(() => response.end(`event: message\ndata: ${text}\n\n`));
  });
});
server.keepAliveTimeout = 600_000;
server.listen(Number(port), '127.0.0.1');
