import { PageHeader } from '../../parts/page-header.tsx';

export function ApprovalsPage({ id }: { readonly id: string | undefined }) {
  return <PageHeader title="Approvals" detail={id} />;
}
