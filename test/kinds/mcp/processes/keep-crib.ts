// A crib with one server, started through a shell; says when it is there and stays.
import { createCrib } from '../../../../src/index.ts';

const [, , command = '', ...args] = process.argv;
const env = { PRESENCE: process.env.PRESENCE ?? '' };
const config = { sources: { one: { mcp: { command, args, env } } } };
const crib = await createCrib({ config, store: { url: 'memory:' } });
console.log(crib.catalog.specs.length);
setInterval(() => {}, 1000);
