import { statSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { openToday } from '../../app/open-today.ts';
import { getDataDirectory, readConfig } from '../../cli/settings.ts';
import { withApp } from '../../cli/store/store-commands.ts';
import { createInterruptSignal, EXIT, formatJson, print, say } from '../../cli/terminal.ts';
import type { Config } from '../../config/schema.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { formatCount } from '../../lib/text.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { describeDifference } from '../recording/frozen-analyst.ts';
import {
  type RecordingSource,
  readRecordingsIn,
  readStoredRecordings,
} from '../recording/read-recordings.ts';
import { type FrozenRun, runFrozen } from '../recording/run-frozen.ts';
import { selectAskedRuns } from './recordings-command.ts';

/** The options of `faultline replay --frozen`. */
export interface FrozenOptions {
  /** The path of a file of recordings; true for those in the store. */
  readonly frozen: string | true;
  readonly data?: string;
  /** The ids of triages or analyses; all if absent. */
  readonly run?: readonly string[];
  readonly limits: 'recorded' | 'configured';
  readonly out?: string;
  readonly json?: boolean;
}

/**
 * The outcomes of a run other than `identical`, which means that the answer is byte-identical and no step
 * differs.
 */
const OUTCOMES = [
  // A prompt, rule, tool, or limit has changed. What a model would answer now is unknown.
  ['sameBytes', 'byte-identical answer by another path'],
  // The parts that people see are the same.
  ['sameAnswer', 'same answer by another path'],
  ['otherAnswer', 'different answer'],
  ['stopped', 'not completed'],
  ['unreadable', 'unreadable'],
  // The recording is incomplete. This is counted in addition to another outcome.
  ['incomplete', 'incomplete recording'],
] as const;
type Outcome = 'identical' | (typeof OUTCOMES)[number][0];
type Tally = Record<Outcome | 'runs', number>;

/**
 * Runs `faultline replay --frozen`: replays recorded runs through the current graph and reports the first
 * difference of each.
 */
export async function runFrozenReplay(options: FrozenOptions): Promise<void> {
  const { frozen } = options;
  refuseOptionsOfCases(options);
  if (frozen !== true) {
    if (!statSync(frozen, { throwIfNoEntry: false })?.isFile())
      throw new TriageError('not-found', `--frozen: ${frozen} is not a file.`);
    await refuseSameFile(frozen, options.out);
    return await replayAll(readRecordingsIn(frozen), readConfig(getDataDirectory(options.data)), options);
  }
  const filter = omitUndefined({ runs: options.run });
  await withApp(options, ({ stores, config }) =>
    replayAll(readStoredRecordings(stores.recordings, filter), config, options),
  );
}

async function replayAll(
  sources: AsyncIterable<RecordingSource>,
  config: Config,
  options: FrozenOptions,
): Promise<void> {
  const signal = createInterruptSignal();
  const today = await openToday(config, options.limits);
  const out = options.out === undefined ? null : await openOut(options.out);
  const asked = selectAskedRuns(options.run);
  const tally: Tally = {
    runs: 0,
    identical: 0,
    sameBytes: 0,
    sameAnswer: 0,
    otherAnswer: 0,
    stopped: 0,
    incomplete: 0,
    unreadable: 0,
  };
  const notes = new Set<string>();
  const results: object[] = [];
  const startedAt = performance.now();
  try {
    for await (const source of sources) {
      signal.throwIfAborted();
      const isMeant = asked.meant(
        'recording' in source ? source.recording : { triageId: source.name, analysis: null },
      );
      if ('recording' in source && !isMeant) continue;
      const run = 'error' in source ? null : await runFrozen(source.recording, today, signal);
      count(tally, run);
      for (const note of run?.notes ?? []) notes.add(note);
      const line =
        run === null ? { run: source.name, error: 'error' in source ? source.error : '' } : toOutputLine(run);
      await out?.write(`${formatJson(line)}\n`);
      if (run?.identical && run.differences.length === 0 && run.missing.length === 0) continue;
      if (options.json) results.push(line);
      else
        await print(
          run === null
            ? toVisibleLine(`${source.name}: ${'error' in source ? source.error : ''}`)
            : describeRun(run),
        );
    }
  } finally {
    await out?.close();
  }
  const missing = asked.missing();
  if (tally.runs === 0) throw new TriageError('invalid-input', missing ?? 'There is no recording to replay.');
  const seconds = (performance.now() - startedAt) / 1000;
  if (tally.identical < tally.runs) process.exitCode = EXIT.belowBar;
  if (missing !== null) {
    say(toVisibleLine(missing));
    process.exitCode = EXIT.unreadable;
  }
  if (options.json)
    return await print(
      formatJson({
        ok: true,
        ...tally,
        seconds: Number(seconds.toFixed(1)),
        notes: [...notes],
        runs: results,
      }),
    );
  for (const note of notes) say(toVisibleLine(note));
  await print(`${formatSummary(tally)}, in ${seconds.toFixed(1)} s`);
}

async function openOut(path: string): Promise<FileHandle> {
  return await open(path, 'w').catch((cause: unknown) => {
    throw new TriageError('not-found', `--out: ${path} cannot be written: ${getErrorMessage(cause)}.`, {
      cause,
    });
  });
}

function count(tally: Tally, run: FrozenRun | null): void {
  tally.runs += 1;
  tally[toOutcome(run)] += 1;
  if (run !== null && run.missing.length > 0) tally.incomplete += 1;
}

function toOutcome(run: FrozenRun | null): Outcome {
  if (run === null) return 'unreadable';
  if (run.stopped !== null) return 'stopped';
  if (run.identical) return run.differences.length === 0 ? 'identical' : 'sameBytes';
  return run.changed.length > 0 || run.before === null ? 'otherAnswer' : 'sameAnswer';
}

function toOutputLine({ analysis: _analysis, triageId, ...run }: FrozenRun): object {
  const [first] = run.differences;
  return { run: triageId, ...run, first: first === undefined ? null : describeDifference(first) };
}

function describeRun({
  triageId,
  analysisId,
  differences,
  stopped,
  changed,
  identical,
  missing,
  before,
}: FrozenRun): string {
  const [first] = differences;
  const end = stopped ?? (identical ? 'The answer is identical.' : answerText(changed, before));
  const all = differences.length > 1 ? ` (${differences.length} in all)` : '';
  const more = missing.length > 3 ? `; and ${missing.length - 3} more` : '';
  const lines = [
    `${triageId}${analysisId === null ? '' : ` (${analysisId})`}`,
    ...(first === undefined ? [] : [`  first: ${describeDifference(first)}${all}`]),
    ...(missing.length === 0 ? [] : [`  not complete: ${missing.slice(0, 3).join('; ')}${more}`]),
    `  ${end}`,
  ];
  return lines.map((line) => `${line.startsWith('  ') ? '  ' : ''}${toVisibleLine(line)}`).join('\n');
}

function answerText(changed: readonly string[], before: string | null): string {
  if (before === null) return 'It now ends with an answer; the recording has none.';
  return changed.length === 0
    ? 'The visible part of the answer is the same.'
    : `The answer differs: ${changed.join(', ')}.`;
}

function formatSummary(tally: Tally): string {
  const others = OUTCOMES.flatMap(([outcome, words]) =>
    tally[outcome] === 0 ? [] : [`${tally[outcome]} ${words}`],
  );
  return [`${formatCount(tally.runs, 'run')}: ${tally.identical} identical`, ...others].join(', ');
}

/**
 * The options of `replay` that determine how cases are answered, judged, or reported. `usual` is the default
 * of an option.
 */
const OF_CASES: readonly { readonly key: string; readonly flag: string; readonly usual?: unknown }[] = [
  ...[
    'dataset',
    'logs',
    'reviewed',
    'stored',
    'by',
    'sample',
    'resume',
    'html',
    'junit',
    'gate',
    'judge',
  ].map(toFlag),
  ...['repository', 'branch', 'fingerprint', 'category', 'since', 'until'].map(toFlag),
  ...[
    'analyst',
    'profile',
    'model',
    'budget',
    'max-usd',
    'max-minutes',
    'only',
    'without',
    'design',
    'record',
  ].map(toFlag),
  { key: 'repeat', flag: '--repeat', usual: 1 },
  { key: 'green', flag: '--no-green', usual: true },
];

/**
 * Rejects options that do not apply to `--frozen`. If they were ignored, a gate could pass without being
 * checked. Throws `invalid-config`.
 */
function refuseOptionsOfCases(options: object): void {
  const given = new Map<string, unknown>(Object.entries(options));
  const flags = OF_CASES.filter(
    ({ key, usual }) => given.get(key) !== undefined && given.get(key) !== usual,
  ).map(({ flag }) => flag);
  if (flags.length === 0) return;
  throw new TriageError(
    'invalid-config',
    `${flags.join(', ')} cannot be combined with --frozen, which reruns recordings.`,
  );
}

/** Checks that input and output are different files, even under other names. Throws `invalid-config`. */
async function refuseSameFile(read: string, written: string | undefined): Promise<void> {
  if (written === undefined) return;
  const [left, right] = await Promise.all([read, written].map((path) => stat(path).catch(() => null)));
  if (left != null && right != null && left.isFile() && left.dev === right.dev && left.ino === right.ino)
    throw new TriageError(
      'invalid-config',
      `--out: ${written} contains the recordings to read; choose another file.`,
    );
}

function toFlag(name: string): { readonly key: string; readonly flag: string } {
  return { key: name.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase()), flag: `--${name}` };
}
