import { PageHeader } from '../../parts/page-header.tsx';

export function ToolPage({ name }: { readonly name: string }) {
  return <PageHeader title="Tools" detail={name} />;
}
