import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { createCallId } from '../../../call/call-input.ts';
import type { Approve } from '../../../core/caller.ts';
import { isRecord } from '../../../core/json.ts';
import { defined } from '../../../core/read-options.ts';
import type { Progress } from '../../../core/tool-call.ts';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import {
  type Content,
  type FailedResult,
  type ToolResult,
  textOf,
  type WaitingResult,
} from '../../../core/tool-result.ts';
import type { Chest } from '../../../crib/chest.ts';
import type { Crib } from '../../../crib/crib.ts';
import { approverOf } from '../ask-on-terminal.ts';
import { parseArguments, readArguments } from '../call-arguments.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, readTaskFlags, usage } from '../flags.ts';
import { noteMissingRunner, openChest, quoteWord, suggestTool, untilListed, withCrib } from '../open-crib.ts';
import { cancelOnInterrupt, type Interruption, note, paint, print, printJson, toLine, toLines } from '../output.ts';

/** `toolcrib call TOOL`: calls a tool, and asks on the terminal if it requires approval. */
export async function callTool({ words, flags }: Invocation): Promise<ExitCode> {
  const [name = '', ...pairs] = words;
  const task = readTaskFlags(flags);
  const given = await readArguments(flags.args); // before anything is started
  return withCrib(flags, async (crib) => {
    const interruption = cancelOnInterrupt();
    if (task !== undefined) return submitCall(crib, { words, flags }, { given, task, signal: interruption.signal });
    const approve = approverOf(flags, interruption);
    const chest = await openChest(crib, flags, approve);
    await untilListed(crib, name, interruption.signal);
    const input = { ...given, ...parseArguments(pairs, chest.get(name)?.input) };
    return callAndPrint(chest, { name, input, approve, command: 'call', words, flags }, interruption);
  });
}

/** A call of a command, with the command that makes it. */
interface CommandCall extends Invocation {
  readonly name: string;
  readonly input: object;
  readonly approve: Approve | undefined;
  readonly command: string;
}

/** Makes a call and prints its result. */
async function callAndPrint(chest: Chest, call: CommandCall, interruption: Interruption): Promise<ExitCode> {
  const { name, input, approve, flags } = call;
  const id = randomUUID();
  const begin = performance.now();
  const result = await chest.call(name, input, {
    id,
    door: 'cli',
    park: true,
    wholeResult: true,
    ...defined({ traceparent: process.env.TRACEPARENT, approvalId: flags.approval }),
    ...(approve === undefined && { onQuestion: (asked: string) => explainQuestion(asked, flags) }),
    signal: interruption.signal,
    onProgress: (progress) => note(paint('dim', toLine(wordsOf(progress)), process.stderr)),
  });
  if (flags.json === true) printJson({ callId: id, ...result, durationMs: Math.round(performance.now() - begin) });
  else printResult(result);
  if (result.status === 'waiting') explainWaiting(result.waiting, call);
  if (result.status === 'failed') explainFailure(result, chest, name);
  if (interruption.signal.aborted) return 130;
  return result.ok ? 0 : 1;
}

/** Progress as text: of progress with a message, such as the steps of an agent, the message. */
function wordsOf(progress: Progress): string {
  const said = isRecord(progress) && typeof progress.message === 'string' ? progress.message : progress;
  return typeof said === 'string' ? said : JSON.stringify(said);
}

interface Submitted {
  readonly given: object;
  readonly task: NonNullable<ReturnType<typeof readTaskFlags>>;
  readonly signal: AbortSignal;
}

/** Stores the call as a task, which a server or a worker runs. */
async function submitCall(
  crib: Crib,
  { words, flags }: Invocation,
  { given, task, signal }: Submitted,
): Promise<ExitCode> {
  const [name = '', ...pairs] = words;
  const chest = await openChest(crib, flags);
  await untilListed(crib, name, signal);
  const input = { ...given, ...parseArguments(pairs, chest.get(name)?.input) };
  const id = createCallId();
  const { TRACEPARENT: traceparent } = process.env;
  const result = await chest.submit(name, input, { ...task, id, door: 'cli', ...defined({ traceparent }) });
  if (flags.json === true) printJson({ callId: id, ...result });
  else printResult(result);
  if (result.status === 'failed') explainFailure(result, chest, name);
  if (result.status !== 'waiting') return result.ok ? 0 : 1;
  const place = flags.config === undefined ? '' : ` --config ${quoteWord(flags.config)}`;
  note(toLine(`Stored as a task. To see its state and result: toolcrib tasks show ${result.waiting.id}${place}`));
  noteMissingRunner(flags);
  return 0;
}

function printResult(result: ToolResult): void {
  if (result.status === 'waiting') print(result.waiting.id);
  else if (!result.ok) note(`${paint('red', 'error:', process.stderr)} ${toLines(textOf(result))}`);
  else for (const part of result.content) print(toText(part));
}

// A file or a pipe gets the exact text of the tool; a terminal gets it without control characters.
function toText(part: Content): string {
  if (part.type === 'text') return process.stdout.isTTY ? toLines(part.text) : part.text;
  if (part.type === 'resource_link') return `[link ${toLine(part.uri)}]`;
  if (part.type === 'resource') return part.resource.text ?? `[resource ${toLine(part.resource.uri)}]`;
  return `[${part.type} ${toLine(part.mimeType)}, ${Buffer.byteLength(part.data, 'base64')} bytes; --json prints it]`;
}

/** Tells how to answer a question of a running call, which waits for the answer. */
function explainQuestion(id: string, flags: Flags): void {
  note(`Waiting for the answer to a question (${id}).`);
  note(`To approve it: toolcrib approvals approve ${id}${placeOf(flags)}`);
}

function placeOf({ config }: Flags): string {
  return config === undefined ? '' : ` --config ${quoteWord(config)}`;
}

/** Tells how to approve and run a parked call. */
function explainWaiting({ id, expiresAt }: WaitingResult['waiting'], { command, words, flags }: CommandCall): void {
  const { config, profile, args } = flags;
  const given = Object.entries({ config, profile, args }).flatMap(([flag, value]) =>
    value === undefined ? [] : [`--${flag}`, value],
  );
  const again = ['toolcrib', command, ...words, ...given, '--approval', id].map(quoteWord).join(' ');
  note(`Waiting for approval ${id} until ${new Date(expiresAt).toISOString()}.`);
  note(`To approve it: toolcrib approvals approve ${id}${placeOf(flags)}`);
  note(toLine(`Then run it: ${again}`));
}

function explainFailure(result: FailedResult, chest: Chest, name: string): void {
  const { code, cause } = result.error;
  const isAsking = cause instanceof ToolcribError && cause.code === 'no_approver';
  if (isAsking) note('Run the command on a terminal to be asked, or approve the call with --yes.');
  if (code === 'unknown_tool') note(`"toolcrib list" lists the tools.${suggestTool(name, chest)}`);
}

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
      const approve = approverOf(flags, interruption);
      const chest = await openChest(crib, flags, approve);
      await untilListed(crib, 'execute_script', interruption.signal);
      const input = { code, input: { ...given, ...parseArguments(pairs, undefined) } };
      const call = { name: 'execute_script', input, approve, command: 'script', words, flags };
      return callAndPrint(chest, call, interruption);
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
