import { statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { silentLogger } from '../../ports/logger.ts';
import { datasetCases } from '../../replay/cases/dataset.ts';
import type { FigureSection } from '../../replay/figures/figure.ts';
import { scoreCases } from '../../replay/figures/score.ts';
import { renderFigures } from '../../replay/report/table.ts';
import { type Answerer, type ReplayedCase, type ReplayOptions, replay } from '../../replay/run/replay.ts';
import { interruptSignal, print, say } from '../terminal.ts';

export interface ReplayCommandOptions {
  /** Several are replayed one after the other, each with a table of its own. */
  readonly dataset: readonly string[];
  readonly out?: string;
  readonly analyst?: 'rules' | 'llm';
  readonly budget?: number;
  readonly concurrency: number;
  readonly only?: 'read';
  readonly green: boolean;
  readonly json?: boolean;
}

const PROGRESS_EVERY = 50;

/** `faultline replay`: every row of each data set through the same road, the results as JSONL, the figures as one table a file. */
export async function runReplay(options: ReplayCommandOptions, config: Config): Promise<void> {
  const signal = interruptSignal();
  for (const dataset of options.dataset)
    if (!statSync(dataset, { throwIfNoEntry: false })?.isFile()) throw new TriageError('not-found', `--dataset: ${dataset} is no file.`);
  const budgetTokens = options.budget ?? config.triage.budgetTokens;
  const answer = options.only === 'read' ? null : await answering(options, config, budgetTokens);
  const out = options.out === undefined ? undefined : await openOut(options.out);
  try {
    for (const [index, dataset] of options.dataset.entries()) {
      if (signal.aborted) break;
      const shared = { concurrency: options.concurrency, green: options.green, budgetTokens, maxLogBytes: config.http.maxLogBytes, answer };
      const { cases, milliseconds } = await replayFile({ dataset, ...shared }, out, signal);
      const sections = scoreCases(cases, milliseconds);
      const heading = `${basename(dataset)}: ${options.only === 'read' ? 'reading alone' : analystOf(options, config)}, budget ${budgetTokens} tokens`;
      if (options.json) await print(JSON.stringify(jsonOf(dataset, budgetTokens, sections)));
      else await print(`${index === 0 ? '' : '\n'}${renderFigures(heading, sections)}`);
    }
  } finally {
    await out?.close();
  }
}

type FileOptions = Omit<ReplayOptions, 'onCase' | 'cases'> & { readonly dataset: string };

async function replayFile(
  options: FileOptions,
  out: FileHandle | undefined,
  signal: AbortSignal,
): Promise<{ cases: ReplayedCase[]; milliseconds: number }> {
  const cases: ReplayedCase[] = [];
  const onCase = async (done: ReplayedCase) => {
    if (out !== undefined) await out.write(`${JSON.stringify(done.result)}\n`);
    cases.push(lightened(done));
    if (cases.length % PROGRESS_EVERY === 0) say(`${cases.length} cases`);
    if (done.result.error !== null) say(`${done.result.id}: ${done.result.error}`);
  };
  const startedAt = performance.now();
  try {
    await replay({ ...options, cases: datasetCases(options.dataset), onCase }, signal);
  } catch (error) {
    // What is done is worth its figures; the exit code says that it is not all.
    if (!signal.aborted || cases.length === 0) throw error;
    say(`interrupted after ${cases.length} cases`);
  }
  if (cases.length === 0) throw new TriageError('invalid-input', `${options.dataset} holds no case.`);
  const milliseconds = performance.now() - startedAt;
  say(`${cases.length} cases in ${(milliseconds / 1000).toFixed(1)} s`);
  return { cases, milliseconds };
}

/** One line a data set: the figures flat, each with the section it is read in. */
function jsonOf(dataset: string, budgetTokens: number, sections: readonly FigureSection[]): object {
  const figures = sections.flatMap(({ title, figures }) =>
    figures.map(({ name, value, cases }) => ({ section: title, name, value, cases })),
  );
  return { ok: true, dataset, budgetTokens, figures };
}

function analystOf(options: ReplayCommandOptions, config: Config): string {
  return `analyst ${options.analyst ?? config.analyst.driver}`;
}

async function openOut(path: string): Promise<FileHandle> {
  return open(path, 'w').catch((cause: unknown) => {
    throw new TriageError('not-found', `--out: ${path} cannot be written: ${messageOf(cause)}.`, { cause });
  });
}

async function answering(options: ReplayCommandOptions, config: Config, budgetTokens: number): Promise<Answerer> {
  const driver = options.analyst ?? config.analyst.driver;
  const { createTerminalApp } = await import('../../app/terminal-app.ts');
  // Past cases name strangers' repositories: nobody is asked about them unless that is configured on purpose.
  const codeHost =
    config.codeHost.driver === 'auto' ? ({ ...config.codeHost, driver: 'local-git' } satisfies Config['codeHost']) : config.codeHost;
  const app = await createTerminalApp(
    { ...config, codeHost, analyst: { ...config.analyst, driver }, triage: { ...config.triage, budgetTokens } },
    silentLogger,
  );
  return (build, { sources, greenText }, signal) => {
    return app.triage(build, sources, signal, { maxGroups: 1, ...(greenText === undefined ? {} : { greenText }) });
  };
}

/** Scores need positions and lengths of excerpts; a hundred thousand rows must not all stay in memory with all else. */
function lightened(done: ReplayedCase): ReplayedCase {
  return { ...done, analysis: null, row: done.row === null ? null : { ...done.row, log: null, stack_trace: null, snippets: null } };
}
