import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Answer } from '../api/answer.ts';
import { api } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { toCallCommand } from './call-command.ts';
import { CopyLine } from './copy-line.tsx';
import { HIDDEN_NAME } from './hidden-name.ts';
import { VisibleText } from './visible-text.tsx';

interface FirstCallProps {
  readonly danger: 'read' | 'destructive';
  /** What such a call is for, before the name of the tool. */
  readonly says: string;
}

/** A tool of this crib to try: its form, and the command to copy. Absent if the caller sees no such tool. */
export function FirstCall({ danger, says }: FirstCallProps) {
  const { pages } = useSession();
  const { data: tool } = useQuery({
    queryKey: ['tools', 'first call', danger],
    queryFn: ({ signal }) => readFirst(danger, signal),
    enabled: pages.includes('tools'),
  });
  if (tool === undefined || tool === null) return null;
  return (
    <>
      <p className="soft">
        {says}{' '}
        <Link href={`/tools/${encodeURIComponent(tool.name)}`} className="link">
          <span className="name">
            <VisibleText text={tool.name} limit={80} />
          </span>
        </Link>
        , or on the command line:
      </p>
      <CopyLine text={toCallCommand(tool.name, tool.inputSchema)} />
    </>
  );
}

async function readFirst(danger: string, signal: AbortSignal): Promise<Answer<'/api/tools/{name}'> | null> {
  const { tools } = await api<Answer<'/api/tools'>>('/api/tools', { query: { danger, limit: 2 }, signal });
  const first = tools.find(({ name }) => name !== HIDDEN_NAME);
  return first === undefined ? null : api(`/api/tools/${encodeURIComponent(first.name)}`, { signal });
}
