import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded before a process (`NODE_OPTIONS=--import`). At each SIGIO it writes how long its event loop was held since the last one, in
 * milliseconds, into the folder that BENCH_LOOP_FOLDER names, as `<process id>.json`.
 */
const folder = process.env.BENCH_LOOP_FOLDER;
if (isMainThread && folder !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on('SIGIO', () => {
    const figures = { max: delay.max / 1e6, p99: delay.percentile(99) / 1e6 };
    delay.reset();
    writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(figures));
  });
}
