import { availableParallelism, cpus } from 'node:os';
import { benchApprovals } from './approvals.ts';
import { benchAudit } from './audit.ts';
import { benchCall } from './call.ts';
import { benchCatalog } from './catalog.ts';
import { benchCli } from './cli.ts';
import { benchRecords } from './records.ts';
import { benchSpecs } from './specs.ts';
import { benchStore } from './store.ts';

console.log(`Node ${process.version}, ${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown processor'}`);
await benchCall();
await benchRecords();
await benchCatalog();
await benchCli();
await benchStore();
await benchAudit();
await benchApprovals();
await benchSpecs();
