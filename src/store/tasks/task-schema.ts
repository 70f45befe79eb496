/** Creates the table of tasks. The long columns come last, so that lists do not read them. */
export const CREATE_TASKS: readonly string[] = [
  `CREATE TABLE toolcrib_tasks (
    id TEXT PRIMARY KEY, state TEXT NOT NULL, is_ready BIGINT NOT NULL, is_lost BIGINT NOT NULL DEFAULT 0,
    priority BIGINT NOT NULL, run_at BIGINT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL,
    started_at BIGINT, ended_at BIGINT, keep_ms BIGINT NOT NULL, keep_until BIGINT,
    attempts BIGINT NOT NULL DEFAULT 0, losses BIGINT NOT NULL DEFAULT 0,
    tool TEXT NOT NULL, source TEXT NOT NULL, profile TEXT NOT NULL, owner TEXT NOT NULL,
    is_for_workers BIGINT NOT NULL, is_repeatable BIGINT NOT NULL, slot TEXT, schedule TEXT,
    process TEXT, claim TEXT, approval_id TEXT, cancelled_by TEXT, outcome TEXT, bytes BIGINT NOT NULL,
    progress TEXT, task TEXT NOT NULL, arguments TEXT NOT NULL, result TEXT)`,
  'CREATE UNIQUE INDEX toolcrib_tasks_of_slot ON toolcrib_tasks (slot) WHERE slot IS NOT NULL',
  'CREATE INDEX toolcrib_tasks_of_schedule ON toolcrib_tasks (schedule, created_at) WHERE schedule IS NOT NULL',
  'CREATE INDEX toolcrib_tasks_ready ON toolcrib_tasks (priority DESC, run_at, id, source, profile) WHERE is_ready = 1',
  `CREATE INDEX toolcrib_tasks_ready_here ON toolcrib_tasks (priority DESC, run_at, id, source, profile)
    WHERE is_ready = 1 AND is_for_workers = 0`,
  "CREATE INDEX toolcrib_tasks_delayed ON toolcrib_tasks (run_at) WHERE state = 'queued' AND is_ready = 0",
  "CREATE INDEX toolcrib_tasks_waiting ON toolcrib_tasks (approval_id) WHERE state = 'waiting' AND is_ready = 0",
  "CREATE INDEX toolcrib_tasks_of_process ON toolcrib_tasks (process) WHERE state = 'running'",
  "CREATE INDEX toolcrib_tasks_by_expiry ON toolcrib_tasks (expires_at) WHERE state = 'queued' AND approval_id IS NULL",
  "CREATE INDEX toolcrib_tasks_open ON toolcrib_tasks (owner, state, bytes) WHERE state <> 'done'",
  "CREATE INDEX toolcrib_tasks_open_by_time ON toolcrib_tasks (state, created_at, id) WHERE state <> 'done'",
  'CREATE INDEX toolcrib_tasks_by_time ON toolcrib_tasks (created_at, id)',
  'CREATE INDEX toolcrib_tasks_of_owner ON toolcrib_tasks (owner, created_at, id)',
  "CREATE INDEX toolcrib_tasks_failed ON toolcrib_tasks (outcome, created_at, id) WHERE state = 'done' AND outcome <> 'done'",
  "CREATE INDEX toolcrib_tasks_ended ON toolcrib_tasks (owner, ended_at, bytes) WHERE state = 'done'",
  "CREATE INDEX toolcrib_tasks_kept ON toolcrib_tasks (keep_until) WHERE state = 'done'",
];
