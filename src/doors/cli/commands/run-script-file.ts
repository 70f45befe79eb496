import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { messageOf } from '../../../core/tool-error.ts';
import { approverOf } from '../ask-on-terminal.ts';
import { parseArguments, readArguments } from '../call-arguments.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { usage } from '../flags.ts';
import { openChest, untilListed, withCrib } from '../open-crib.ts';
import { cancelOnInterrupt } from '../output.ts';
import { callAndPrint } from './call-tool.ts';

/** `toolcrib script FILE`: runs a script that calls tools, under the profile. */
export async function runScriptFile({ words, flags }: Invocation): Promise<ExitCode> {
  const [file = '', ...pairs] = words;
  if (file === '-' && flags.args === '-') throw usage('Only one of the script and --args can be read from stdin.');
  const given = await readArguments(flags.args); // before anything is started
  const code = await readCode(file);
  return withCrib(
    flags,
    async (crib) => {
      const interruption = cancelOnInterrupt();
      const chest = await openChest(crib, flags, approverOf(flags, interruption));
      await untilListed(crib, 'execute_script', interruption.signal);
      const input = { code, input: { ...given, ...parseArguments(pairs, undefined) } };
      return callAndPrint(chest, { name: 'execute_script', input, command: 'script', words, flags }, interruption);
    },
    { runsScripts: true },
  );
}

async function readCode(file: string): Promise<string> {
  try {
    return file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  } catch (cause) {
    throw usage(`The script cannot be read: ${messageOf(cause)}.`);
  }
}
