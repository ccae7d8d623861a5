import { writeSync } from 'node:fs';
import { createApp } from '../../src/app.ts';
import { readServedConfig } from '../../src/cli/settings.ts';
import { sparseBuild } from '../../src/domain/build.ts';
import type { Logger } from '../../src/ports/logger.ts';
import { capturedFailure } from './captured-failures.ts';

/**
 * A process that triages one captured failure and kills itself with SIGKILL in the named node of the graph: before that
 * node's result is kept. Prints each node that it passes.
 *
 *   node test/support/die-in-node.ts <data directory> <node> <slug>
 */
const [dataDir = '', deadlyNode = '', slug = ''] = process.argv.slice(2);

function deadlyLogger(): Logger {
  const quiet = () => undefined;
  return {
    debug: (fields, message) => {
      if (message !== 'node finished' || !('node' in fields)) return;
      if (fields.node === deadlyNode) process.kill(process.pid, 'SIGKILL');
      writeSync(1, `${fields.node}\n`);
    },
    info: quiet,
    warn: quiet,
    error: (fields) => writeSync(2, `${JSON.stringify(fields)}\n`),
    child: () => deadlyLogger(),
  };
}

const app = await createApp(readServedConfig(dataDir).config, deadlyLogger());
const { build } = await app.stores.builds.upsert(sparseBuild({ repository: 'shop/api', pipeline: 'ci', number: '1' }));
await app.archive.put(build.id, { name: 'build.log', kind: 'log', text: capturedFailure(slug).log, notes: [] });
const job = await app.stores.triages.owe(build.id);
await app.loadKnowledge();
await app.work();
await app.jobQueue.enqueue(job.id);
