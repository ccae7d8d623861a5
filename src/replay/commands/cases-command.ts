import { dirname, resolve } from 'node:path';
import { loadTerminalConfig } from '../../cli/command-parts.ts';
import { withApp } from '../../cli/store/store-commands.ts';
import { createInterruptSignal, EXIT, formatJson, print, printResult, say } from '../../cli/terminal.ts';
import { createMaskingOptions } from '../../config/masking.ts';
import { TriageError } from '../../domain/errors.ts';
import { formatCount } from '../../lib/text.ts';
import { createMasker } from '../../log/mask/mask.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import type { SplitBy } from '../cases/assign-sides.ts';
import {
  type CaseProblem,
  type CaseSetSummary,
  type CheckedCases,
  checkCases,
  writeCaseSet,
} from '../cases/case-set.ts';
import { listConfined, readDatasetCases } from '../cases/dataset.ts';
import { findDatasetAt, openCases } from '../cases/folder.ts';
import { beginFolder } from '../cases/new-folder.ts';
import { type SplitSummary, splitCases } from '../cases/split.ts';
import { listAppCases, type StoredCaseOptions, storeFilter } from './case-sources.ts';

export interface CheckCommandOptions {
  readonly logs: boolean;
  readonly json?: boolean;
}

/**
 * The maximum number of problems in the JSON output. All of them are counted, and printed to standard error.
 */
const MAX_LISTED = 1_000;
const MAX_PROJECTS = 10;

/** Runs `faultline cases check`: reports every error in a data set, and summarizes its valid cases. */
export async function runCasesCheck(path: string, options: CheckCommandOptions): Promise<void> {
  const signal = createInterruptSignal();
  const { http } = await loadTerminalConfig();
  const listed: CaseProblem[] = [];
  const onProblem = (problem: CaseProblem) => {
    if (listed.length < MAX_LISTED) listed.push(problem);
    if (!options.json) say(formatProblemText(problem));
  };
  const logs = options.logs ? { maxBytes: http.maxLogBytes } : null;
  const checked = await checkCases(await openCases(path), { logs, onProblem }, signal);
  await print(
    options.json ? formatJson({ ok: checked.problems === 0, ...checked, listed }) : checkText(checked),
  );
  if (checked.problems > 0) process.exitCode = EXIT.unreadable;
}

function formatProblemText({ line, id, field, reason }: CaseProblem): string {
  const named = id === null ? '' : ` (${formatJson({ id }).slice(6, -1)})`;
  return `line ${line}${named}${field === null ? '' : `, ${toVisibleLine(field)}`}: ${toVisibleLine(reason)}`;
}

function checkText({ cases, good, problems, categories, projects, dated }: CheckedCases): string {
  const wrong =
    problems === 0
      ? 'no problems'
      : `${formatCount(problems, 'problem')}, ${formatCount(good, 'case')} without one`;
  const several = Object.keys(projects).length;
  return [
    `${formatCount(cases, 'case')}: ${wrong}. ${formatCount(good, 'good one')}, ${dated} with a time:`,
    ...countRows(categories),
    `of ${formatCount(several, 'project')}:`,
    ...countRows(projects, MAX_PROJECTS),
  ].join('\n');
}

export interface ExportCommandOptions extends StoredCaseOptions {
  readonly out: string;
}

/** Runs `faultline cases export`: writes stored failures and their reviews as a case set. */
export async function runCasesExport(options: ExportCommandOptions): Promise<void> {
  if (options.reviewed !== true && options.stored !== true)
    throw new TriageError(
      'invalid-config',
      'Choose --reviewed for reviewed failures, or --stored for all stored failures.',
    );
  // Check the options before opening anything.
  storeFilter(options);
  const signal = createInterruptSignal();
  const out = resolve(options.out);
  const folder = await beginFolder(out);
  const notCases: Record<string, number> = {};
  const onLeftOut = (_id: string, reason: string) => {
    notCases[reason] = (notCases[reason] ?? 0) + 1;
  };
  try {
    await withApp(options, async (app) => {
      const cases = listAppCases(app, options, onLeftOut);
      const limits = { masker: app.masker, maxLogBytes: app.config.http.maxLogBytes };
      const set = await writeCaseSet(cases, folder, limits, signal);
      await printResult(options, { out, ...set, notCases }, setText(options.out, set, notCases));
    });
  } finally {
    await folder.discard();
  }
}

export interface ImportCommandOptions {
  readonly out: string;
  readonly logsIn?: string;
  readonly json?: boolean;
}

/** Runs `faultline cases import`: writes external cases, masked and checked, as a case set. */
export async function runCasesImport(path: string, options: ImportCommandOptions): Promise<void> {
  const signal = createInterruptSignal();
  const config = await loadTerminalConfig();
  const dataset = await findDatasetAt(path);
  const cases =
    dataset === null
      ? await openCases(path)
      : listConfined(readDatasetCases(dataset), dataset, resolve(options.logsIn ?? dirname(dataset)));
  const folder = await beginFolder(resolve(options.out));
  const limits = { masker: createMasker(createMaskingOptions(config)), maxLogBytes: config.http.maxLogBytes };
  const set = await writeCaseSet(cases, folder, limits, signal);
  await printResult(options, { out: resolve(options.out), ...set }, setText(options.out, set));
}

export interface SplitCommandOptions {
  readonly by: SplitBy;
  readonly share: number;
  readonly seed?: string;
  readonly near: number;
  readonly dropDuplicates?: true;
  readonly out: string;
  readonly json?: boolean;
}

/**
 * Runs `faultline cases split`: separates training and test cases and reports near duplicates between them.
 */
export async function runCasesSplit(path: string, options: SplitCommandOptions): Promise<void> {
  if (options.by === 'random' && options.seed === undefined)
    throw new TriageError('invalid-config', 'A random split needs --seed WORDS, so that it can be repeated.');
  if (options.by !== 'random' && options.seed !== undefined)
    throw new TriageError(
      'invalid-config',
      `--seed is for --by random; a split by ${options.by} is not random.`,
    );
  const dataset = await findDatasetAt(path);
  if (dataset === null)
    throw new TriageError(
      'invalid-input',
      `${path} is a folder of logs: convert it with faultline cases import first.`,
    );
  const { http } = await loadTerminalConfig();
  const out = resolve(options.out);
  const { by, share, seed = '', near: minScore, dropDuplicates = false } = options;
  const task = {
    dataset,
    out,
    by,
    share,
    seed,
    dropDuplicates,
    minScore,
    maxLogBytes: http.maxLogBytes,
    onBad: ({ error }: { readonly error: string }) => say(toVisibleLine(`left out: ${error}`)),
  };
  const split = await splitCases(task, await beginFolder(out), createInterruptSignal());
  await printResult(options, { by, share, out, ...split }, splitText(options, split));
}

function splitText({ out, by, dropDuplicates }: SplitCommandOptions, split: SplitSummary): string {
  const { train, test, undated, bad, nearDuplicates, dropped, mostAlike, unread } = split;
  const row = (name: string, of: (side: typeof train) => number) => {
    const share = (side: typeof train) =>
      side.cases === 0 ? '' : ` (${((100 * of(side)) / side.cases).toFixed(0)} %)`;
    return `${name.padEnd(18)}${String(of(train)).padStart(8)}${share(train).padEnd(9)}${String(of(test)).padStart(8)}${share(test)}`;
  };
  const categories = [...new Set([...Object.keys(train.categories), ...Object.keys(test.categories)])].sort();
  const counts = (side: typeof train, name: string) =>
    Object.entries(side.categories).find(([category]) => category === name)?.[1] ?? 0;
  return [
    `${formatCount(train.cases, 'case')} in ${out}/train.jsonl, ${test.cases} in ${out}/test.jsonl, ` +
      `split by ${by}.`,
    `${''.padEnd(18)}${'train'.padStart(8)}${''.padEnd(9)}${'test'.padStart(8)}`,
    ...categories.map((name) => row(name === 'none' ? 'no category' : name, (side) => counts(side, name))),
    `${'projects'.padEnd(18)}${String(train.projects).padStart(8)}${''.padEnd(9)}${String(test.projects).padStart(8)}`,
    ...(undated === 0 ? [] : [`${formatCount(undated, 'case')} without happened_at: on neither side.`]),
    ...(bad === 0 ? [] : [`${formatCount(bad, 'row')} that cannot be read: left out.`]),
    ...(unread === 0 ? [] : [`${formatCount(unread, 'case')} whose log cannot be read: not compared.`]),
    formatNearText(nearDuplicates, dropped, dropDuplicates === true),
    ...mostAlike.map(({ train: left, test: right, score, sameFingerprint }) => {
      return `    ${score.toFixed(2)}  ${toVisibleLine(left)}  ${toVisibleLine(right)}${sameFingerprint ? '  (same fingerprint)' : ''}`;
    }),
  ].join('\n');
}

function formatNearText(pairs: number, dropped: number, asked: boolean): string {
  if (pairs === 0) return 'No near-duplicates across the split.';
  const done = asked
    ? `${dropped} left out of train.jsonl`
    : '--drop-duplicates leaves them out of train.jsonl';
  return (
    `${formatCount(pairs, 'case')} for training nearly the same as a test case (${done}), all in ` +
    'near-duplicates.jsonl:'
  );
}

/** Formats the rows of a table with right-aligned counts, the largest first. */
function countRows(counts: Readonly<Record<string, number>>, most = Number.POSITIVE_INFINITY): string[] {
  const sorted = Object.entries(counts).sort(
    ([left, ones], [right, others]) => others - ones || (left < right ? -1 : 1),
  );
  const listed = sorted
    .slice(0, most)
    .map(
      ([name, count]) =>
        `${String(count).padStart(8)}  ${name === 'none' ? 'without a category' : toVisibleLine(name)}`,
    );
  return sorted.length <= most ? listed : [...listed, `          and ${sorted.length - most} more`];
}

const MAX_SHOWN = 20;

/** Formats what a written case set contains and what was left out. */
function setText(out: string, set: CaseSetSummary, notCases: Readonly<Record<string, number>> = {}): string {
  const masked = set.secrets === 0 ? 'nothing masked' : `${formatCount(set.secrets, 'place')} masked`;
  const left = set.firstLeftOut
    .slice(0, MAX_SHOWN)
    .map(
      ({ line, id, reason }) =>
        `${`${toVisibleLine(id ?? `line ${line}`)}:`.padStart(10)} ${toVisibleLine(reason)}`,
    );
  const more = set.leftOut > MAX_SHOWN ? [`          and ${set.leftOut - MAX_SHOWN} more`] : [];
  return [
    `${formatCount(set.cases, 'case')} in ${out}, ${formatCount(set.logs, 'log')}, ${masked}.`,
    ...countRows(set.categories),
    ...(set.leftOut === 0
      ? []
      : [`Left out, ${formatCount(set.leftOut, 'case')} that could not be read:`, ...left, ...more]),
    ...(Object.keys(notCases).length === 0 ? [] : ['Skipped:', ...countRows(notCases)]),
  ].join('\n');
}
