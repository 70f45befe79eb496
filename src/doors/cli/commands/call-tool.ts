import { randomUUID } from 'node:crypto';
import { notAvailable } from '../../../core/tool-error.ts';
import { type Content, type ToolResult, textOf } from '../../../core/tool-result.ts';
import type { Chest } from '../../../crib/chest.ts';
import { approveOnTerminal } from '../ask-approval.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { cancelOnInterrupt } from '../interrupt.ts';
import { openChest, withCrib } from '../open-crib.ts';
import { note, paint, print, printJson, toLine, toLines } from '../output.ts';
import { parseArguments } from '../parse-arguments.ts';
import { readArguments } from '../read-arguments.ts';
import { suggestTool } from '../unknown-tool.ts';

/** `toolcrib call TOOL`: runs a tool; a person on the terminal is asked where approval is needed. */
export async function callTool({ words, flags }: Invocation): Promise<ExitCode> {
  const [name = '', ...pairs] = words;
  if (flags.approval !== undefined) {
    throw notAvailable('Taking up a parked call (--approval)', 'call it again on a terminal, or with --yes');
  }
  const given = await readArguments(flags.args); // before anything is started
  return withCrib(flags, async (crib) => {
    const interruption = cancelOnInterrupt();
    const approve = flags.yes === true ? () => ({ approved: true, note: '--yes' }) : approveOnTerminal(interruption);
    const chest = await openChest(crib, flags, approve);
    const input = { ...given, ...parseArguments(pairs, chest.get(name)?.input) };
    const id = randomUUID();
    const begin = performance.now();
    const result = await chest.call(name, input, {
      id,
      door: 'cli',
      signal: interruption.signal,
      onProgress: (progress) =>
        note(paint('dim', toLine(typeof progress === 'string' ? progress : JSON.stringify(progress)), process.stderr)),
    });
    if (flags.json === true) printJson({ callId: id, ...result, durationMs: Math.round(performance.now() - begin) });
    else printResult(result);
    if (!result.ok) explainFailure(result, chest, name);
    if (interruption.signal.aborted) return 130;
    return result.ok ? 0 : 1;
  });
}

function printResult(result: ToolResult): void {
  if (!result.ok) note(`${paint('red', 'error:', process.stderr)} ${toLines(textOf(result))}`);
  else for (const part of result.content) print(toText(part));
}

// Into a file or a pipe goes what the tool said, to the letter; a terminal is protected.
function toText(part: Content): string {
  if (part.type === 'text') return process.stdout.isTTY ? toLines(part.text) : part.text;
  if (part.type === 'resource_link') return `[link ${toLine(part.uri)}]`;
  if (part.type === 'resource') return part.resource.text ?? `[resource ${toLine(part.resource.uri)}]`;
  return `[${part.type} ${toLine(part.mimeType)}, ${Buffer.byteLength(part.data, 'base64')} bytes; --json prints it]`;
}

function explainFailure(result: Extract<ToolResult, { ok: false }>, chest: Chest, name: string): void {
  if (result.status === 'waiting') return;
  const { code } = result.error;
  const isAsking = code === 'denied' && /approval/.test(result.error.message);
  if (isAsking) note('Run it on a terminal to be asked, or approve it with --yes.');
  if (code === 'unknown_tool') note(`"toolcrib list" shows the tools.${suggestTool(name, chest)}`);
}
