import { parentPort } from 'node:worker_threads';
import { z } from 'zod';
import { createTerminalApp } from '../../../src/app/terminal-app.ts';
import { getDataDirectory, readConfig } from '../../../src/cli/settings.ts';
import type { Config } from '../../../src/config/schema.ts';
import { Design } from '../../../src/domain/calibration.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createExperiment, toReadStages } from '../../../src/replay/ablation.ts';
import { readDatasetCases } from '../../../src/replay/cases/dataset.ts';
import { listStagesLeftOut, openAnswerer, replayConfig } from '../../../src/replay/commands/answering.ts';
import type { ReplayCommandOptions } from '../../../src/replay/commands/case-sources.ts';
import { type Answerer, type ReplayedCase, replay } from '../../../src/replay/run/replay.ts';
import type { Experiment } from '../../../src/service/triage/investigate.ts';
import { createCarelessAnalyst } from './careless-analyst.ts';

/** One system on one data set, one case at a time, so that each case has its own time. */
export const AblationTask = z.object({
  path: z.string(),
  without: z.array(z.string()),
  design: Design,
  budget: z.int(),
  onlyRead: z.boolean(),
  /** True to use an analyst that misquotes in every third answer. */
  careless: z.boolean(),
});
export type AblationTask = z.infer<typeof AblationTask>;

/** The result, and the milliseconds of processor time, which other programs on the machine hardly change. */
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

async function run({
  path,
  without,
  design,
  budget,
  onlyRead,
  careless,
}: AblationTask): Promise<AblationRun> {
  const asked = {
    analyst: 'rules',
    budget,
    concurrency: 1,
    green: true,
    without,
    design,
  } satisfies ReplayCommandOptions;
  const options: ReplayCommandOptions = onlyRead ? { ...asked, only: 'read' } : asked;
  const config = replayConfig(options, readConfig(getDataDirectory(undefined)));
  const stages = listStagesLeftOut(options);
  const cases: ReplayedCase[] = [];
  const how = { green: !stages.includes('green'), without: toReadStages(stages) };
  const limits = { concurrency: 1, budgetTokens: budget, maxLogBytes: config.http.maxLogBytes };
  const answer = careless ? await answerCarelessly(options, config) : await openAnswerer(options, config);
  const onCase = (done: ReplayedCase) => void cases.push(lightenCase(done));
  const before = process.threadCpuUsage();
  await replay({ cases: readDatasetCases(path), answer, onCase, ...how, ...limits }, never);
  const { user, system } = process.threadCpuUsage(before);
  return { cases, milliseconds: (user + system) / 1000 };
}

/** Answers like `answering`, but with the careless analyst. */
async function answerCarelessly(options: ReplayCommandOptions, config: Config): Promise<Answerer> {
  const experiment = await createExperiment(listStagesLeftOut(options), options.design);
  const change: Experiment['change'] = (whole) => {
    const changed = experiment?.change(whole) ?? whole;
    return { ...changed, analyst: createCarelessAnalyst(changed.analyst) };
  };
  const app = await createTerminalApp(config, silentLogger, systemClock, {
    without: experiment?.without ?? new Set(),
    change,
  });
  return (build, { sources }, signal) => app.triage(build, sources, signal, { maxGroups: 1 });
}

/** Removes the texts of excerpts, because scores need only their positions. */
function lightenCase(done: ReplayedCase): ReplayedCase {
  const excerpts = done.result.excerpts.map((excerpt) => ({ ...excerpt, text: '', reason: '' }));
  const row = done.row === null ? null : { ...done.row, log: null, stack_trace: null, snippets: null };
  return { ...done, row, analysis: null, result: { ...done.result, excerpts, messages: [], claims: [] } };
}
