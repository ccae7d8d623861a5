import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { AblationRun, AblationTask } from './ablation-worker.ts';

/** A system: the parts that are left out of it, its design and its budget. */
export interface System {
  readonly without: readonly string[];
  readonly design?: 'loop' | 'linear';
  readonly budget?: number;
  readonly careless?: boolean;
}

/** A run to make. `onlyRead` runs it without an analyst. */
export interface Run extends System {
  readonly file: string;
  readonly onlyRead: boolean;
}

export const USUAL_BUDGET = 2_000;
/** The data set that is run first, for warming up. Its result is discarded. */
const WARM_UP = 'classify/silver';

export type Results = ReadonlyMap<string, AblationRun>;

/** Makes each run once, in several parallel threads. */
export async function runAll(runs: readonly Run[], data: string, threads: number): Promise<Results> {
  const done = new Map<string, AblationRun>();
  const waiting = [...new Map(runs.map((run) => [createKey(run), run])).values()];
  const total = waiting.length;
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const worker = new Worker(new URL('ablation-worker.ts', import.meta.url));
      await askWorker(worker, { file: WARM_UP, onlyRead: false, without: [] }, data);
      for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
        done.set(createKey(run), await askWorker(worker, run, data));
        console.error(`${done.size} of ${total}: ${createKey(run)}`);
      }
      await worker.terminate();
    }),
  );
  return done;
}

/** Returns the key of a run. Equal runs have the same key. */
export function createKey({
  file,
  onlyRead,
  without,
  design = 'loop',
  budget = USUAL_BUDGET,
  careless,
}: Run): string {
  return [
    file,
    onlyRead ? 'read' : design,
    budget,
    ...(careless === true ? ['careless'] : []),
    ...without,
  ].join(' ');
}

async function askWorker(worker: Worker, run: Run, data: string): Promise<AblationRun> {
  const { file, onlyRead, without, design = 'loop', budget = USUAL_BUDGET, careless = false } = run;
  const task: AblationTask = {
    path: join(data, `${file}.jsonl`),
    without: [...without],
    design,
    budget,
    onlyRead,
    careless,
  };
  worker.postMessage(task);
  const [done]: AblationRun[] = await once(worker, 'message');
  if (done === undefined) throw new Error(`the worker said nothing of ${createKey(run)}`);
  return done;
}
