import { parentPort } from 'node:worker_threads';
import { z } from 'zod';
import { answering, replayConfig, stagesLeftOut } from '../../src/cli/replay/answering.ts';
import type { ReplayCommandOptions } from '../../src/cli/replay/replay-options.ts';
import { dataDirectory, readConfig } from '../../src/cli/settings.ts';
import { Design } from '../../src/domain/ablation.ts';
import { readStagesOf } from '../../src/replay/ablation/stages.ts';
import { datasetCases } from '../../src/replay/cases/dataset.ts';
import { type ReplayedCase, replay } from '../../src/replay/run/replay.ts';

/** One system over one data set, one case at a time, so that its milliseconds are its own. */
export const AblationTask = z.object({
  path: z.string(),
  without: z.array(z.string()),
  design: Design,
  budget: z.int(),
  onlyRead: z.boolean(),
});
export type AblationTask = z.infer<typeof AblationTask>;

/** What came of it, and the processor's milliseconds, which neighbours on the machine do not change much. */
export interface AblationRun {
  readonly cases: readonly ReplayedCase[];
  readonly milliseconds: number;
}

const never = new AbortController().signal;
parentPort?.on('message', (message: unknown) => {
  run(AblationTask.parse(message)).then(
    (done) => parentPort?.postMessage(done),
    (error: unknown) => {
      throw error;
    },
  );
});

async function run({ path, without, design, budget, onlyRead }: AblationTask): Promise<AblationRun> {
  const asked = { analyst: 'rules', budget, concurrency: 1, green: true, without, design } satisfies ReplayCommandOptions;
  const options: ReplayCommandOptions = onlyRead ? { ...asked, only: 'read' } : asked;
  const config = replayConfig(options, readConfig(dataDirectory(undefined)));
  const stages = stagesLeftOut(options);
  const cases: ReplayedCase[] = [];
  const how = { green: !stages.includes('green'), without: readStagesOf(stages) };
  const limits = { concurrency: 1, budgetTokens: budget, maxLogBytes: config.http.maxLogBytes };
  const answer = await answering(options, config);
  const onCase = (done: ReplayedCase) => void cases.push(lightened(done));
  const before = process.threadCpuUsage();
  await replay({ cases: datasetCases(path), answer, onCase, ...how, ...limits }, never);
  const { user, system } = process.threadCpuUsage(before);
  return { cases, milliseconds: (user + system) / 1000 };
}

/** Scores need the positions of excerpts, not their texts. */
function lightened(done: ReplayedCase): ReplayedCase {
  const excerpts = done.result.excerpts.map((excerpt) => ({ ...excerpt, text: '', reason: '' }));
  const row = done.row === null ? null : { ...done.row, log: null, stack_trace: null, snippets: null };
  return { ...done, row, analysis: null, result: { ...done.result, excerpts, messages: [], claims: [] } };
}
