import { statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Config } from '../config/schema.ts';
import { messageOf, TriageError } from '../domain/errors.ts';
import { silentLogger } from '../ports/logger.ts';
import { type ReplayedCase, type ReplayOptions, replay } from '../replay/replay.ts';
import { renderFigures } from '../replay/report.ts';
import { scoreCases } from '../replay/score.ts';
import { interruptSignal, print, say } from './terminal.ts';

export interface ReplayCommandOptions {
  readonly dataset: string;
  readonly out?: string;
  readonly analyst?: 'rules' | 'llm';
  readonly budget?: number;
  readonly concurrency: number;
  readonly only?: 'read';
  readonly green: boolean;
  readonly json?: boolean;
}

const PROGRESS_EVERY = 50;

/** `faultline replay`: every row of a data set through the same road, the results as JSONL, the figures as a table. */
export async function runReplay(options: ReplayCommandOptions, config: Config): Promise<void> {
  const signal = interruptSignal();
  const budgetTokens = options.budget ?? config.triage.budgetTokens;
  const { dataset, concurrency, green } = options;
  if (!statSync(dataset, { throwIfNoEntry: false })?.isFile()) throw new TriageError('not-found', `--dataset: ${dataset} is no file.`);
  const out = options.out === undefined ? undefined : await openOut(options.out);
  const cases: ReplayedCase[] = [];
  const onCase = async (done: ReplayedCase) => {
    if (out !== undefined) await out.write(`${JSON.stringify(done.result)}\n`);
    cases.push(lightened(done));
    if (cases.length % PROGRESS_EVERY === 0) say(`${cases.length} cases`);
    if (done.result.error !== null) say(`${done.result.id}: ${done.result.error}`);
  };
  const triage = options.only === 'read' ? null : await answering(options, config, budgetTokens);
  const startedAt = performance.now();
  try {
    await replay({ dataset, concurrency, green, budgetTokens, maxLogBytes: config.http.maxLogBytes, triage, onCase }, signal);
  } catch (error) {
    // What is done is worth its figures; the exit code says that it is not all.
    if (!signal.aborted || cases.length === 0) throw error;
    say(`interrupted after ${cases.length} cases`);
  } finally {
    await out?.close();
  }
  if (cases.length === 0) throw new TriageError('invalid-input', `${dataset} holds no case.`);
  const figures = scoreCases(cases);
  say(`${cases.length} cases in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  await print(options.json ? JSON.stringify({ ok: true, dataset, budgetTokens, figures }) : renderFigures(figures));
}

async function openOut(path: string): Promise<FileHandle> {
  return open(path, 'w').catch((cause: unknown) => {
    throw new TriageError('not-found', `--out: ${path} cannot be written: ${messageOf(cause)}.`, { cause });
  });
}

async function answering(options: ReplayCommandOptions, config: Config, budgetTokens: number): Promise<ReplayOptions['triage']> {
  const driver = options.analyst ?? config.analyst.driver;
  const { createTerminalApp } = await import('../app.ts');
  const app = await createTerminalApp(
    { ...config, analyst: { ...config.analyst, driver }, triage: { ...config.triage, budgetTokens } },
    silentLogger,
  );
  return (build, { source, greenText }, signal) => {
    return app.triage(build, [source], signal, { maxGroups: 1, ...(greenText === undefined ? {} : { greenText }) });
  };
}

/** Scores need positions and lengths of excerpts; a hundred thousand rows must not all stay in memory with all else. */
function lightened(done: ReplayedCase): ReplayedCase {
  return { ...done, row: done.row === null ? null : { ...done.row, log: null, stack_trace: null, snippets: null } };
}
