import { networkInterfaces } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isOwnAddress, noteListening } from '../../../src/system/fetch/own-addresses.ts';

function listening(address: string, port = 2742): void {
  onTestFinished(noteListening({ address, port }));
}

describe('our own address', () => {
  it.each(['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', '127.0.0.2', '0.0.0.0', '::', '::1'])(
    'is %s if we listen on this machine',
    (address) => {
      listening('127.0.0.1');
      expect(isOwnAddress(address, 2742)).toBe(true);
      expect(isOwnAddress(address, 2743)).toBe(false);
    },
  );

  it.each(['0.0.0.0', '::'])('is every address of this machine if we listen on %s', (address) => {
    listening(address);
    const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    for (const own of [...all.map((one) => one.address), '127.0.0.1', '::1', '127.3.2.1'])
      expect(isOwnAddress(own, 2742), own).toBe(true);
  });

  it('is one address if we listen on it, in any spelling', () => {
    listening('2001:db8::7');
    expect(isOwnAddress('2001:0db8:0000::0007', 2742)).toBe(true);
    expect(isOwnAddress('2001:db8::8', 2742)).toBe(false);
    expect(isOwnAddress('127.0.0.1', 2742)).toBe(false);
  });

  it.each(['8.8.8.8', '10.0.0.1', '::ffff:8.8.8.8', '2606:4700:4700::1111', '128.0.0.1'])('is not %s', (address) => {
    listening('127.0.0.1');
    listening('0.0.0.0', 80);
    expect(isOwnAddress(address, 2742)).toBe(false);
    expect(isOwnAddress(address, 80)).toBe(false);
  });

  it('is none after the server was closed', () => {
    const stop = noteListening({ address: '127.0.0.1', port: 2742 });
    stop();
    expect(isOwnAddress('127.0.0.1', 2742)).toBe(false);
  });
});
