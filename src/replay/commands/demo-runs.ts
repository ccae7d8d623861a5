import { createMaskingOptions } from '../../config/masking.ts';
import { resolveBudgetTokens } from '../../config/profiles.ts';
import type { Config } from '../../config/schema.ts';
import { createMasker } from '../../log/mask/mask.ts';
import type { CaseOutcome } from '../cases/case.ts';
import { listFolderCases } from '../cases/folder.ts';
import { keepLabels, listRuns, makeRoom } from '../compare/kept-runs.ts';
import { type ReplayedCase, replay } from '../run/replay.ts';
import { openAnswerer, replayConfig } from './answering.ts';
import type { ReplayCommandOptions } from './case-sources.ts';
import { createManifest, openRunFiles } from './run-files.ts';

/** The two runs: one with 12 tokens of the log, the other with the usual budget. */
const RUNS = [
  ['12-tokens-of-log', { budget: 12 }],
  ['usual-log', {}],
] as const;

/**
 * Replays failures of a folder of logs twice, once with hardly any of the log, and keeps both runs. Does
 * nothing if runs are kept already. `builds` maps each case to its build.
 */
export async function keepDemoRuns(
  config: Config,
  logs: string,
  builds: ReadonlyMap<string, string>,
): Promise<void> {
  if ((await listRuns(config.runs.folder)).length > 0) return;
  async function* listDemoCases(): AsyncGenerator<CaseOutcome> {
    for await (const outcome of listFolderCases(logs)) {
      if ('error' in outcome) continue;
      const id = builds.get(outcome.one.row.id);
      if (id !== undefined) yield { ...outcome, one: { ...outcome.one, row: { ...outcome.one.row, id } } };
    }
  }
  const source = {
    name: 'failures of the demo',
    path: logs,
    cases: listDemoCases,
    measure: async () => ({ cases: builds.size, sha256: null }),
  };
  for (const [name, settings] of RUNS) {
    const options: ReplayCommandOptions = { analyst: 'rules', ...settings, concurrency: 2, green: true };
    const demoConfig = replayConfig(options, config);
    const path = await makeRoom(config.runs.folder, name, false);
    await keepLabels(config.runs.folder, name, [listDemoCases()]);
    const files = await openRunFiles(
      path,
      false,
      createManifest(options, demoConfig, [{ source, ...(await source.measure()) }]),
    );
    const { concurrency, green } = options;
    const reading = {
      budgetTokens: resolveBudgetTokens(demoConfig),
      maxLogBytes: demoConfig.http.maxLogBytes,
      masker: createMasker(createMaskingOptions(demoConfig)),
    };
    const onCase = async ({ result }: ReplayedCase) => await files.results.append(result);
    await replay(
      {
        cases: listDemoCases(),
        concurrency,
        green,
        ...reading,
        answer: await openAnswerer(options, demoConfig),
        onCase,
      },
      new AbortController().signal,
    );
    await files.close();
  }
}
