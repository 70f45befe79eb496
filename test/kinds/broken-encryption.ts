import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { onTestFinished } from 'vitest';

/** Of localhost, made for these tests and known to nothing else. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1iH2Lc4RnnyhhJ00
Q94kOcXSQx2ZeW7hfqYruCufhCGhRANCAASo9RMMxI5CxOATTbuM2DCO03CLtVvE
+dwSFu89pXwsOrF1DrzzzAp6h1W1TZm6vbiIXLSaCj+o+X9Ib82MagMX
-----END PRIVATE KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUEWAf8TigDolGBLqtsd6WdelVZWwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNjA1MTU1OVoYDzIxMjYxMDIz
MDUxNTU5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASo9RMMxI5CxOATTbuM2DCO03CLtVvE+dwSFu89pXwsOrF1DrzzzAp6
h1W1TZm6vbiIXLSaCj+o+X9Ib82MagMXo28wbTAdBgNVHQ4EFgQU49L0LjLrGHMf
UwB0ZG6B/MgKFCEwHwYDVR0jBBgwFoAU49L0LjLrGHMfUwB0ZG6B/MgKFCEwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgTtSBsvos8tg3gPoXRCUp/r362Jwf84X8Mh6ER7GQPZUCIQDy
lFsT2HaLtovfZpke0EwmzX/FOvPDYqetNydU3wcjUg==
-----END CERTIFICATE-----`;

/** What comes in the place of an answer, below the encryption. */
export const BREAKS = {
  'a record that is not encrypted': Buffer.from(`1703030020${'00'.repeat(32)}`, 'hex'),
  'an alert': Buffer.from('15030300020250', 'hex'),
  'plain text': Buffer.from('HTTP/1.1 500 plain\r\n\r\n'),
} as const;

/** A server over https that can break the encryption of a connection once it has a request. */
export interface BrokenEncryption {
  readonly url: string;
  readonly host: string;
  /** Ends the connection of a request with bytes that no key fits. */
  breakOff(request: IncomingMessage, bytes: Buffer): void;
}

export async function startEncrypted(listener: RequestListener): Promise<BrokenEncryption> {
  const usual = getCACertificates('default');
  setDefaultCACertificates([...usual, CERTIFICATE]);
  onTestFinished(() => setDefaultCACertificates(usual));
  const inner = await listening(createServer({ key: KEY, cert: CERTIFICATE }, listener));
  const clients = new Map<number, Socket>();
  const outer = await listening(
    createTcpServer((client) => {
      const passed = connect(inner, '127.0.0.1', () => clients.set(passed.localPort ?? 0, client));
      for (const socket of [client, passed]) socket.on('error', () => {}); // broken on purpose
      client.pipe(passed).pipe(client);
    }),
  );
  const host = `localhost:${outer}`;
  return {
    url: `https://${host}/mcp`,
    host,
    breakOff: ({ socket }, bytes) => void clients.get(socket.remotePort ?? 0)?.end(bytes),
  };
}

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port; // it listens on a port
}
