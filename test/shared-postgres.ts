import type { TestProject } from 'vitest/node';
import { openStore } from '../src/store/open-store.ts';
import { missingPackage, type OwnPostgres, startPostgres, TEMPLATE } from './store/postgres-server.ts';

let server: OwnPostgres | undefined;

/** Starts one PostgreSQL for all test files, with a database that has the schema of the store. */
export async function setup(project: TestProject): Promise<void> {
  if (missingPackage() !== undefined) return;
  server = await startPostgres();
  const client = await server.connect('postgres');
  await client.query(`CREATE DATABASE ${TEMPLATE}`);
  await client.end();
  const store = await openStore({ url: server.urlOf(TEMPLATE), env: {} });
  await store.close();
  project.provide('postgresPort', server.port);
}

export const teardown = async (): Promise<void> => server?.stop();
