import { writeSync } from 'node:fs';
import { createApp } from '../../src/app.ts';
import { readServedConfig } from '../../src/cli/settings.ts';
import type { Logger } from '../../src/ports/telemetry.ts';

/**
 * A worker on the database that the environment names. Prints a line for each node it finishes, as `<build> <node>`, and for each
 * warning. WORKER_CLOCK_MS: how far its clock is off. WORKER_POISON: the build that kills it when taken. WORKER_FREEZE: the node
 * at which it freezes (SIGSTOP), once.
 *
 *   node test/support/worker-process.ts <data directory>
 */
const [dataDir = ''] = process.argv.slice(2);
const { WORKER_CLOCK_MS = '0', WORKER_POISON, WORKER_FREEZE } = process.env;

let frozen = false;
const asText = (_key: string, value: unknown) => (value instanceof Error ? value.message : value);
const say = (fields: object, message: string) =>
  void writeSync(1, `said ${message} ${JSON.stringify(fields, asText)}\n`);
const logger: Logger = {
  debug: (fields, message) => {
    if (message !== 'node finished' || !('node' in fields) || !('buildId' in fields)) return;
    writeSync(1, `${fields.buildId} ${fields.node}\n`);
    if (fields.node !== WORKER_FREEZE || frozen) return;
    frozen = true;
    process.kill(process.pid, 'SIGSTOP');
  },
  info: () => undefined,
  warn: say,
  error: say,
  child: () => logger,
};
const clock = { now: () => Date.now() + Number(WORKER_CLOCK_MS) };

const app = await createApp(readServedConfig(dataDir).config, logger, clock, (name, subject) => {
  if (name === 'claimed' && subject === WORKER_POISON) process.kill(process.pid, 'SIGKILL');
});
await app.work();
writeSync(1, 'ready\n');
process.on('SIGTERM', () => {
  void app.close({ drainMs: 5_000 }).then(() => process.exit(0));
});
