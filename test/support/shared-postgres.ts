import { findBinaries, type OwnServer, startBinaries } from './postgres-binaries.ts';

let server: OwnServer | null = null;

/**
 * Starts one PostgreSQL server for all test files of a run, unless the environment names one. Each file
 * creates its own databases. If the machine has no server, the tests try Docker themselves.
 */
async function startSharedServer(): Promise<void> {
  const binaries = findBinaries();
  if (process.env.FAULTLINE_TEST_POSTGRES_URL !== undefined || binaries === null) return;
  server = await startBinaries(binaries, ['max_connections=500']);
  process.env.FAULTLINE_TEST_POSTGRES_URL = server.url;
}

/** Stops the server that {@link startSharedServer} started. */
async function stopSharedServer(): Promise<void> {
  if (server === null) return;
  delete process.env.FAULTLINE_TEST_POSTGRES_URL;
  await server.dispose();
}

// The names that Vitest requires of a global setup file.
export { startSharedServer as setup, stopSharedServer as teardown };
