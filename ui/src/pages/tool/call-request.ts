/** What is sent to run a tool. The arguments are JSON as it is written, so that no digit is lost. */
export interface CallRequest {
  readonly tool: string;
  readonly argumentsText: string;
  readonly profile: string | undefined;
  readonly mode: 'run' | 'dry run' | 'background';
}

/** The body of a request, written by hand: `JSON.stringify` would round large integers. */
export function toBody({ argumentsText, profile, mode }: CallRequest): string {
  const members = [`"arguments":${argumentsText}`];
  if (profile !== undefined) members.push(`"profile":${JSON.stringify(profile)}`);
  if (mode === 'dry run') members.push('"dryRun":true');
  if (mode === 'background') members.push('"async":true');
  return `{${members.join(',')}}`;
}
