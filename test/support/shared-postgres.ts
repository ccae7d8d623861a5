import { findBinaries, type OwnServer, startBinaries } from './postgres-binaries.ts';

let server: OwnServer | null = null;

/**
 * Starts one PostgreSQL server for all test files of a run, unless the environment names one. Each file
 * creates its own databases. If the machine has no server, the tests try Docker themselves.
 */
export async function setup(): Promise<void> {
  const binaries = findBinaries();
  if (process.env.FAULTLINE_TEST_POSTGRES_URL !== undefined || binaries === null) return;
  server = await startBinaries(binaries, ['max_connections=500']);
  process.env.FAULTLINE_TEST_POSTGRES_URL = server.url;
}

export async function teardown(): Promise<void> {
  if (server === null) return;
  delete process.env.FAULTLINE_TEST_POSTGRES_URL;
  await server.dispose();
}
