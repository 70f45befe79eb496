import { Writable } from 'node:stream';

/** What is written from now on goes to stderr, but for what is written to the returned stream: a tool that prints must not spoil what is said there. */
export function takeStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const taken = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => void write(chunk, (error) => done(error)),
  });
  stdout.on('error', (error) => taken.destroy(error)); // nobody reads any more
  return taken;
}
