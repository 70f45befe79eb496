import { Empty } from '../../parts/empty.tsx';

/** The remembered approvals, each with its rule and a button that revokes it. */
export function RememberedList() {
  return <Empty title="No approval is remembered." />;
}
