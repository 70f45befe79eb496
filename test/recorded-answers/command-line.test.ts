import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, openRecordedCrib, type RecordedCrib } from './recorded-crib.ts';

/** Command lines that change nothing: they may run side by side. The key is the name of the recording. */
const READING: Readonly<Record<string, string>> = {
  help: 'help',
  'help-call': 'help call',
  'help-of-nothing': 'help nothing',
  'help-tasks': 'help tasks',
  'help-worker': 'help worker',
  version: 'version',
  'completion-bash': 'completion bash',
  'no-command': '',
  'unknown-command': 'serch add',
  'unknown-flag': 'list --jason',
  'unknown-flag-value': 'list --format klingon',
  'command-of-a-later-version': 'pins --json',
  config: 'config --json',
  'no-configuration': 'list --config nowhere.yaml',
  'broken-configuration': 'check --config broken.yaml --json',
  'broken-configuration-in-words': 'list --config broken.yaml',
  check: 'check --json',
  'check-in-words': 'check',
  list: 'list --json',
  'list-in-words': 'list',
  'list-filtered': 'list --tag read --flag readOnly --json',
  'list-of-a-profile': 'list --profile reader --json',
  'list-of-an-unknown-profile': 'list --profile nobody --json',
  'list-for-openai': 'list --format openai --profile assistant --json',
  'list-for-anthropic': 'list --format anthropic --profile seeker --json',
  'list-for-gemini': 'list --format gemini --profile reader --json',
  'list-for-mcp': 'list --format mcp --profile reader --json',
  show: 'show add --json',
  'show-in-words': 'show notes_add',
  'show-unknown': 'show ad --json',
  explain: 'explain hidden_tool --profile assistant --caller ann --role dev --json',
  'explain-limits': 'explain add --profile strict --json',
  search: 'search add numbers --json',
  'search-in-words': 'search weather --limit 2',
  'search-expanded': 'search add --expand --profile reader --json',
  eval: 'eval --queries requests.jsonl --json',
  bundles: 'bundles --json',
  profiles: 'profiles --json',
  'profiles-exactly': 'profiles --tokens --json',
  sources: 'sources --json',
  logs: 'logs notes --json',
  'logs-of-an-unknown-source': 'logs nots',
  'specs-bad': 'specs add bad-tools.yaml --json',
  'approval-unknown': 'approvals approve aaaa-bbbb-cccc --json',
  'key-without-a-name': 'keys create --json',
};

/** Calls of tools of every kind, and every way in which one can fail. */
const CALLS: Readonly<Record<string, string>> = {
  'call-function': 'call add a=1 b=2 --json',
  'call-function-in-words': 'call add a=1 b=2',
  'call-arguments-of-many-types':
    'call echo text=hello count=2 loud=true mood=glad names=a names=b options={"x":1} --json',
  'call-invalid-arguments': 'call echo text=123456789012345678901 count=0 mood=sad other=1 --json',
  'call-invalid-arguments-in-words': 'call add a=one',
  'call-unknown-tool': 'call ad a=1 --json',
  'call-unreadable-arguments': 'call add --args {oops --json',
  'call-failing': 'call fail --json',
  'call-too-slow': 'call slow --json',
  'call-wrong-answer': 'call wrong_answer --json',
  'call-refused-by-access': 'call staff_only --profile assistant --json',
  'call-refused-by-a-rule': 'call add a=11 b=1 --profile strict --json',
  'call-refused-by-an-extension': 'call echo text=midnight --json',
  'call-too-large': 'call long_text --profile strict --json',
  'call-over-budget': 'call dear --profile strict --json',
  'call-hidden-tool': 'call hidden_tool --profile assistant --json',
  'call-shell': 'call list_folder --json',
  'call-shell-of-the-configuration': 'call say_hello',
  'call-shell-outside': 'call list_folder path=/etc --json',
  'call-shell-exit-code': 'call exit_three --json',
  'call-shell-no-program': 'call no_program --json',
  'call-http': 'call town_weather town=harbour --json',
  'call-http-404': 'call town_weather town=nowhere --json',
  'call-http-gone': 'call gone_server --json',
  'call-http-private': 'call private_server --json',
  'call-openapi': 'call town_list order=size --json',
  'call-python': 'call prime_factors number=12 --json',
  'call-python-raising': 'call prime_factors number=1 --json',
  'call-mcp': 'call notes_add title=milk --json',
  'call-mcp-failing': 'call notes_find title=milk --json',
  'call-mcp-fixed-argument': 'call notes_add title=milk shelf=low --json',
};

/** Recorded by a process of their own each, as a user runs them. */
const ALONE = ['no-command', 'version', 'unknown-flag', 'call-function', 'call-failing'];

let crib: RecordedCrib;
const lines: CommandLine[] = [];
beforeAll(async () => {
  crib = await openRecordedCrib();
  lines.push(crib.commandLine(), crib.commandLine());
  await lines[0]?.run(['list']); // the store is made and the lists of servers are kept before anything is recorded
});
afterAll(async () => {
  await Promise.all(lines.map((line) => line.end()));
  await crib.close();
});

describe('the command line answers as it was recorded', () => {
  const recordings = new Map<string, Promise<string>>();
  beforeAll(() => {
    // Two processes share the work, each always the same half of it: what a process has said once it may not say again.
    Object.entries({ ...READING, ...CALLS }).reduce(
      (before, [name, line], index) => {
        const args = line === '' ? [] : line.split(' ');
        const previous = before[index % 2];
        const run = ALONE.includes(name) ? crib.run : lines[index % 2]?.run;
        const recording = Promise.resolve(previous).then(async () => (await run?.(args))?.recording ?? '');
        recordings.set(name, recording);
        return before.with(index % 2, recording);
      },
      [undefined, undefined] as readonly (Promise<string> | undefined)[], // empty at first
    );
  });

  it.each(Object.entries({ ...READING, ...CALLS }))('%s: toolcrib %s', async (name) => {
    await keep(name, (await recordings.get(name)) ?? '');
  });

  it('from a call that waits for approval to its result', async () => {
    const waiting = JSON.parse(await runAndKeep('approval-1-parked', 'call wipe what=all --json'));
    const { id } = waiting.waiting;
    await runAndKeep('approval-2-listed', 'approvals --json');
    await runAndKeep('approval-3-listed-in-words', 'approvals');
    await runAndKeep('approval-4-shown', `approvals show ${id} --json`);
    await runAndKeep('approval-5-approved', `approvals approve ${id} --note fine --json`);
    await runAndKeep('approval-6-approved-again', `approvals deny ${id} --json`);
    await runAndKeep('approval-7-taken-up', `call wipe what=all --approval ${id} --json`);
    await runAndKeep('approval-8-with-yes', 'call remove_file path=letter.txt --yes --json');
    const denied = JSON.parse(await runAndKeep('approval-9-parked-again', 'call wipe what=more --json'));
    await runAndKeep('approval-10-denied', `approvals deny ${denied.waiting.id} --note no --json`);
    await runAndKeep('approval-11-told-so', `call wipe what=more --approval ${denied.waiting.id} --json`);
  });

  it('from a background call to its end', async () => {
    const { callId } = JSON.parse(await runAndKeep('task-1-stored', 'call add a=1 b=2 --background --delay 1h --json'));
    await runAndKeep('task-2-listed', 'tasks --json');
    await runAndKeep('task-3-listed-in-words', 'tasks');
    await runAndKeep('task-4-shown', `tasks show ${callId} --json`);
    await runAndKeep('task-5-resent-too-early', `tasks resend ${callId}`);
    await runAndKeep('task-6-cancelled', `tasks cancel ${callId}`);
    await runAndKeep('task-7-shown-in-words', `tasks show ${callId}`);
    const again = await runAndKeep('task-8-resent', `tasks resend ${callId}`);
    await runAndKeep('task-9-cancelled', `tasks cancel ${again.trim()} --json`);
    await runAndKeep('task-10-unknown', 'tasks show nothing');
  });

  it('for specs, keys, calls and the audit', async () => {
    await runAndKeep('specs-add', 'specs add new-tools.yaml --json');
    await runAndKeep('specs', 'specs --json');
    await runAndKeep('specs-export', 'specs export get_pet');
    await runAndKeep('specs-history', 'specs history get_pet --json');
    await runAndKeep('specs-remove', 'specs remove get_pet --json');
    await runAndKeep('specs-remove-again', 'specs remove get_pet --json');
    const created = JSON.parse(await runAndKeep('keys-create', 'keys create --name ci --role dev --json'));
    await runAndKeep('keys', 'keys --json');
    const revoked = await lines[0]?.run(['keys', 'revoke', created.id, '--json']);
    await keep('keys-revoke', revoked?.recording.replaceAll(created.id, '<key id>') ?? '');
    await runAndKeep('init', 'init --config new.yaml --from mcp.json --json');
    await runAndKeep('init-again', 'init --config new.yaml --json');
    await runAndKeep('audit-verify', 'audit verify --json');
    await runAndKeep('audit', 'audit --json');
    await runAndKeep('calls-of-wipe', 'calls --tool wipe --json');
  });
});

async function runAndKeep(name: string, args: string): Promise<string> {
  const ran = await lines[0]?.run(args.split(' '));
  await keep(name, ran?.recording ?? '');
  return ran?.stdout ?? '';
}

function keep(name: string, recording: string): Promise<void> {
  return expect(recording).toMatchFileSnapshot(`recordings/command-line/${name}.txt`);
}
