import { type FileHandle, open } from 'node:fs/promises';
import type { Config } from '../../config/schema.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { readStagesOf } from '../../replay/ablation/stages.ts';
import type { FigureSection } from '../../replay/figures/figure.ts';
import { scoreCases } from '../../replay/figures/score.ts';
import { renderFigures } from '../../replay/report/table.ts';
import { interruptSignal, print } from '../terminal.ts';
import { answering, replayConfig, stagesLeftOut, whoAnswers } from './answering.ts';
import { caseSources } from './case-sources.ts';
import type { ReplayCommandOptions } from './replay-options.ts';
import { replaySource, type SourceRun } from './replay-source.ts';

/** `faultline replay`: every case of each source through the same road, the results as JSONL, the figures as one table a source. */
export async function runReplay(options: ReplayCommandOptions, configured: Config): Promise<void> {
  const signal = interruptSignal();
  const sources = caseSources(options);
  const config = replayConfig(options, configured);
  const { budgetTokens } = config.triage;
  const answer = await answering(options, config);
  const out = options.out === undefined ? undefined : await openOut(options.out);
  const stages = stagesLeftOut(options);
  const how = { green: !stages.includes('green'), without: readStagesOf(stages) };
  const shared = { concurrency: options.concurrency, ...how, budgetTokens, maxLogBytes: config.http.maxLogBytes, answer };
  try {
    for (const [index, source] of sources.entries()) {
      if (signal.aborted) break;
      const run = await replaySource(source, shared, out, signal);
      await tell(run, scoreCases(run.cases, run.milliseconds), index, options, config);
    }
  } finally {
    await out?.close();
  }
}

async function tell(
  { source }: SourceRun,
  sections: readonly FigureSection[],
  index: number,
  options: ReplayCommandOptions,
  config: Config,
): Promise<void> {
  const { budgetTokens } = config.triage;
  const heading = `${source.name}: ${whoAnswers(options, config)}, budget ${budgetTokens} tokens`;
  if (options.json) await print(JSON.stringify(jsonOf(source.path, budgetTokens, sections)));
  else await print(`${index === 0 ? '' : '\n'}${renderFigures(heading, sections)}`);
}

/** One line a data set: the figures flat, each with the section it is read in. */
function jsonOf(dataset: string, budgetTokens: number, sections: readonly FigureSection[]): object {
  const figures = sections.flatMap(({ title, figures }) =>
    figures.map(({ name, value, cases }) => ({ section: title, name, value, cases })),
  );
  return { ok: true, dataset, budgetTokens, figures };
}

async function openOut(path: string): Promise<FileHandle> {
  return open(path, 'w').catch((cause: unknown) => {
    throw new TriageError('not-found', `--out: ${path} cannot be written: ${messageOf(cause)}.`, { cause });
  });
}
