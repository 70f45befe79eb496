import { PageHeader } from '../../parts/page-header.tsx';

export function CallsPage({ id }: { readonly id: string | undefined }) {
  return <PageHeader title="Calls" detail={id} />;
}
