import { randomUUID } from 'node:crypto';
import { defined } from '../../../core/defined.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import {
  type Content,
  type FailedResult,
  type ToolResult,
  textOf,
  type WaitingResult,
} from '../../../core/tool-result.ts';
import type { Chest } from '../../../crib/chest.ts';
import { parseArguments } from '../arguments/parse-arguments.ts';
import { readArguments } from '../arguments/read-arguments.ts';
import { approveOnTerminal } from '../ask-approval.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { cancelOnInterrupt } from '../interrupt.ts';
import { openChest, withCrib } from '../open-crib.ts';
import { note, paint, print, printJson, toLine, toLines } from '../output/output.ts';
import { suggestTool } from '../unknown-tool.ts';
import { whoIsHere } from '../who-is-here.ts';

/** `toolcrib call TOOL`: runs a tool; a person on the terminal is asked where approval is needed. */
export async function callTool({ words, flags }: Invocation): Promise<ExitCode> {
  const [name = '', ...pairs] = words;
  const given = await readArguments(flags.args); // before anything is started
  return withCrib(flags, async (crib) => {
    const interruption = cancelOnInterrupt();
    const approve =
      flags.yes === true ? () => ({ approved: true, note: '--yes', by: whoIsHere() }) : approveOnTerminal(interruption);
    const chest = await openChest(crib, flags, approve);
    const input = { ...given, ...parseArguments(pairs, chest.get(name)?.input) };
    const id = randomUUID();
    const begin = performance.now();
    const result = await chest.call(name, input, {
      id,
      door: 'cli',
      park: true,
      wholeResult: true,
      ...defined({ traceparent: process.env.TRACEPARENT, approvalId: flags.approval }),
      signal: interruption.signal,
      onProgress: (progress) =>
        note(paint('dim', toLine(typeof progress === 'string' ? progress : JSON.stringify(progress)), process.stderr)),
    });
    if (flags.json === true) printJson({ callId: id, ...result, durationMs: Math.round(performance.now() - begin) });
    else printResult(result);
    if (result.status === 'waiting') explainWaiting(result.waiting, { words, flags });
    if (result.status === 'failed') explainFailure(result, chest, name);
    if (interruption.signal.aborted) return 130;
    return result.ok ? 0 : 1;
  });
}

function printResult(result: ToolResult): void {
  if (result.status === 'waiting') print(result.waiting.id);
  else if (!result.ok) note(`${paint('red', 'error:', process.stderr)} ${toLines(textOf(result))}`);
  else for (const part of result.content) print(toText(part));
}

// Into a file or a pipe goes what the tool said, to the letter; a terminal is protected.
function toText(part: Content): string {
  if (part.type === 'text') return process.stdout.isTTY ? toLines(part.text) : part.text;
  if (part.type === 'resource_link') return `[link ${toLine(part.uri)}]`;
  if (part.type === 'resource') return part.resource.text ?? `[resource ${toLine(part.resource.uri)}]`;
  return `[${part.type} ${toLine(part.mimeType)}, ${Buffer.byteLength(part.data, 'base64')} bytes; --json prints it]`;
}

/** What has to happen before a parked call runs. */
function explainWaiting({ id, expiresAt }: WaitingResult['waiting'], { words, flags }: Invocation): void {
  const { config, profile, args } = flags;
  const given = Object.entries({ config, profile, args }).flatMap(([flag, value]) =>
    value === undefined ? [] : [`--${flag}`, value],
  );
  const place = config === undefined ? '' : ` --config ${quote(config)}`;
  const again = ['toolcrib', 'call', ...words, ...given, '--approval', id].map(quote).join(' ');
  note(`Waiting for approval ${id} until ${new Date(expiresAt).toISOString()}.`);
  note(`Approve it with: toolcrib approvals approve ${id}${place}`);
  note(toLine(`Then run it with: ${again}`));
}

function quote(word: string): string {
  return /^[\w./:=@,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function explainFailure(result: FailedResult, chest: Chest, name: string): void {
  const { code, cause } = result.error;
  const isAsking = cause instanceof ToolcribError && cause.code === 'no_approver';
  if (isAsking) note('Run it on a terminal to be asked, or approve it with --yes.');
  if (code === 'unknown_tool') note(`"toolcrib list" shows the tools.${suggestTool(name, chest)}`);
}
