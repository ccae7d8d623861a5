import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyTestDatabase } from '../support/pglite.ts';
import { startService } from '../support/service.ts';
import type { Installation } from './webhook-to-review.ts';

/** `faultline serve` with a data directory of its own, and nothing else. */
export async function installEmbedded(environment: Readonly<Record<string, string>>): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-journey-'));
  await copyTestDatabase(join(folder, 'database'));
  const service = await startService(folder, environment);
  return {
    address: service.address,
    errors: service.errors,
    stop: async () => [await service.kill('SIGTERM')],
    dispose: async () => {
      service.process.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
