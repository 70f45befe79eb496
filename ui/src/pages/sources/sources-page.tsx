import { PageHeader } from '../../parts/page-header.tsx';

export function SourcesPage({ id }: { readonly id: string | undefined }) {
  return <PageHeader title="Sources" detail={id} />;
}
