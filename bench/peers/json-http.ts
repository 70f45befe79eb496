import { createServer } from 'node:http';

// Says its port when it listens.
const BODY = JSON.stringify({ city: 'Oslo', degrees: 4, wind: [1, 2, 3], sky: 'clear '.repeat(20) });
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(BODY) });
    response.end(BODY);
  });
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify(server.address())));
