import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type App, createApp } from '../../src/app.ts';
import { readServedConfig } from '../../src/cli/settings.ts';
import type { Logger } from '../../src/ports/logger.ts';
import { faultOfWalk } from '../support/graph-walk.ts';
import { copyTestDatabase } from '../support/pglite.ts';

const SCRIPT = resolve(import.meta.dirname, '../support/die-in-node.ts');
const SLUG = 'receipt-snapshot';

/** A logger that keeps the nodes it hears of. */
function listening(nodes: string[]): Logger {
  const quiet = () => undefined;
  const logger: Logger = {
    debug: (fields, message) => {
      if (message === 'node finished' && 'node' in fields) nodes.push(String(fields.node));
    },
    info: quiet,
    warn: quiet,
    error: quiet,
    child: () => logger,
  };
  return logger;
}

async function finish(app: App): Promise<void> {
  await app.work();
  for (let tries = 0; tries < 300; tries++) {
    const [build] = await app.stores.builds.list({}, { limit: 1, offset: 0 });
    const job = await app.stores.triages.findByBuild(build?.id ?? '');
    if (job?.state === 'done') return;
    await sleep(100);
  }
  throw new Error('the job was never finished');
}

describe('kill -9 in a node of the graph', () => {
  it.each(['classify', 'reason', 'select_tool', 'execute_tool', 'observe', 'generate_answer', 'verify'])(
    'in %s: the next process finishes the run and repeats no finished node',
    { timeout: 60_000 },
    async (node) => {
      const folder = await mkdtemp(join(tmpdir(), 'faultline-node-'));
      await copyTestDatabase(join(folder, 'database'));
      const death = spawnSync(process.execPath, [SCRIPT, folder, node, SLUG], {
        encoding: 'utf8',
        env: { PATH: process.env.PATH },
        timeout: 50_000,
      });
      expect(death.signal, death.stderr).toBe('SIGKILL');
      const before = death.stdout
        .trim()
        .split('\n')
        .filter((line) => line !== '');

      const after: string[] = [];
      const app = await createApp(readServedConfig(folder).config, listening(after));
      await finish(app);
      const [build] = await app.stores.builds.list({}, { limit: 1, offset: 0 });
      const analyses = await app.stores.analyses.listByBuild(build?.id ?? '');
      await app.close();
      await rm(folder, { recursive: true, force: true });

      expect(before).not.toContain(node);
      expect(after[0]).toBe(node);
      expect(analyses).toHaveLength(1);
      const steps = analyses[0]?.steps ?? [];
      expect(faultOfWalk(steps)).toBeNull();
      expect([...before, ...after]).toEqual(steps.map((step) => step.node));
    },
  );
});
