import { RUN, type ToolSpec } from '../../src/core/tool-spec.ts';

/** A spec of which only what is searched matters. */
export function specOf(name: string, description = '', changes: Partial<ToolSpec> = {}): ToolSpec {
  return {
    name,
    description,
    input: { type: 'object' },
    effects: {},
    policy: {},
    tags: [],
    source: 'test',
    origin: name,
    [RUN]: { kind: 'function' },
    ...changes,
  };
}

/** The names of hits, best first. */
export function namesOf(hits: readonly { readonly name: string }[]): readonly string[] {
  return hits.map(({ name }) => name);
}

/** A small office: tools that have words in common. */
export const OFFICE: readonly ToolSpec[] = [
  specOf('read_file', 'Read a file of the workspace', {
    input: { type: 'object', properties: { path: { type: 'string', description: 'Where the file lies' } } },
  }),
  specOf('write_file', 'Write text to a file of the workspace'),
  specOf('send_mail', 'Send an email to somebody', { tags: ['mail'], category: 'communication' }),
  specOf('list_calendar_events', 'The appointments of a day', {
    examples: [{ request: 'What is on my agenda tomorrow?' }],
  }),
  specOf('create_calendar_event', 'Put an appointment into the calendar'),
  specOf('gh_create_issue', 'Open an issue in a GitHub repository', { source: 'github', title: 'Report a bug' }),
  specOf('get_weather', 'Current weather and forecast for a city'),
  specOf('convert_currency', 'Convert an amount of money from one currency to another'),
];
