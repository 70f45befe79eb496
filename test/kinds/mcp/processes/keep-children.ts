// Starts what its arguments say, as a child that should end with it, and stays.
import { childEnvironment } from '../../../../src/system/processes/child-environment.ts';
import { startChild } from '../../../../src/system/processes/start-child.ts';

const [, , command = '', ...args] = process.argv;
const { PRESENCE } = process.env;
startChild({ command, args, env: childEnvironment(process.env, { PRESENCE }) });
setInterval(() => {}, 1000);
