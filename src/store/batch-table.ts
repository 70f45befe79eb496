import type { StoredApprovals } from '../core/ports/stored-approvals.ts';
import { createListeners } from '../system/listeners.ts';
import { toApproval } from './approval-rows.ts';
import { answerBatchStatements, sealStatement } from './approval-statements.ts';
import type { ApprovalTablePorts } from './approval-table.ts';

/** Batches of approval requests: sealing and answering all requests of one. */
export function batchTable(
  { engine, now, signals }: Pick<ApprovalTablePorts, 'engine' | 'now' | 'signals'>,
  { ofBatch }: Pick<StoredApprovals, 'ofBatch'>,
  tell: (id: string) => void,
): Pick<StoredApprovals, 'sealBatch' | 'onSeal' | 'answerBatch'> {
  const seals = createListeners<[batch: string]>();
  return {
    sealBatch: async (batch) => {
      await engine.write([sealStatement(batch, now())], 'power loss');
      seals.tell(batch);
      return ofBatch(batch);
    },
    onSeal: seals.add,
    answerBatch: async (batch, reply) => {
      const items = await ofBatch(batch);
      const lock = engine.dialect.lock('approvals'); // two answers to one batch are not mixed
      const statements = answerBatchStatements(items, batch, { ...reply, at: now() });
      const rows =
        (await engine.write([...lock, ...statements, ...signals.announce], 'power loss'))[lock.length + 1] ?? [];
      const answered = rows.map((row) => toApproval(row, now()));
      for (const { id } of answered) tell(id);
      return items.flatMap(({ id }) => answered.filter((one) => one.id === id)); // in the order of the batch
    },
  };
}
