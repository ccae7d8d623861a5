import type { FileHandle } from 'node:fs/promises';
import { TriageError } from '../../domain/errors.ts';
import { type ReplayedCase, type ReplayOptions, replay } from '../../replay/run/replay.ts';
import { say } from '../terminal.ts';
import type { CaseSource } from './case-sources.ts';

const PROGRESS_EVERY = 50;

export type SourceOptions = Omit<ReplayOptions, 'onCase' | 'cases'>;

/** What came of one source of cases. */
export interface SourceRun {
  readonly source: CaseSource;
  readonly cases: readonly ReplayedCase[];
  readonly milliseconds: number;
}

/** Replays the cases of one source; the results go to `out` as they come. */
export async function replaySource(
  source: CaseSource,
  options: SourceOptions,
  out: FileHandle | undefined,
  signal: AbortSignal,
): Promise<SourceRun> {
  const cases: ReplayedCase[] = [];
  const onCase = async (done: ReplayedCase) => {
    if (out !== undefined) await out.write(`${JSON.stringify(done.result)}\n`);
    cases.push(lightened(done));
    if (cases.length % PROGRESS_EVERY === 0) say(`${cases.length} cases`);
    if (done.result.error !== null) say(`${done.result.id}: ${done.result.error}`);
  };
  const startedAt = performance.now();
  try {
    await replay({ ...options, cases: source.cases(), onCase }, signal);
  } catch (error) {
    // What is done is worth its figures; the exit code says that it is not all.
    if (!signal.aborted || cases.length === 0) throw error;
    say(`interrupted after ${cases.length} cases`);
  }
  if (cases.length === 0) throw new TriageError('invalid-input', `${source.path} holds no case.`);
  const milliseconds = performance.now() - startedAt;
  say(`${cases.length} cases in ${(milliseconds / 1000).toFixed(1)} s`);
  return { source, cases, milliseconds };
}

/** Scores need positions and lengths of excerpts; a hundred thousand rows must not all stay in memory with all else. */
function lightened(done: ReplayedCase): ReplayedCase {
  return { ...done, analysis: null, row: done.row === null ? null : { ...done.row, log: null, stack_trace: null, snippets: null } };
}
