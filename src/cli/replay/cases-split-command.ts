import { resolve } from 'node:path';
import { TriageError } from '../../domain/errors.ts';
import { visibleLine } from '../../publish/visible-text.ts';
import { datasetAt } from '../../replay/cases/folder.ts';
import { beginFolder } from '../../replay/cases/new-folder.ts';
import { type SplitBy, type SplitSummary, splitCases } from '../../replay/cases/split.ts';
import { terminalConfig } from '../command-parts.ts';
import { interruptSignal, jsonText, print, say } from '../terminal.ts';
import { counted } from './cases-text.ts';

export interface SplitCommandOptions {
  readonly by: SplitBy;
  readonly share: number;
  readonly seed?: string;
  readonly near: number;
  readonly dropDuplicates?: true;
  readonly out: string;
  readonly json?: boolean;
}

/** `faultline cases split`: what is learned from, what is tested with, and what is nearly the same in both. */
export async function runCasesSplit(path: string, options: SplitCommandOptions): Promise<void> {
  if (options.by === 'random' && options.seed === undefined)
    throw new TriageError('invalid-config', 'A random split needs --seed WORDS, so that it can be repeated.');
  if (options.by !== 'random' && options.seed !== undefined)
    throw new TriageError('invalid-config', `--seed is for --by random; a split by ${options.by} is not random.`);
  const dataset = await datasetAt(path);
  if (dataset === null)
    throw new TriageError('invalid-input', `${path} is a folder of logs: convert it with faultline cases import first.`);
  const { http } = await terminalConfig();
  const out = resolve(options.out);
  const task = {
    dataset,
    out,
    by: options.by,
    share: options.share,
    seed: options.seed ?? '',
    dropDuplicates: options.dropDuplicates === true,
    minScore: options.near,
    maxLogBytes: http.maxLogBytes,
    onBad: ({ error }: { readonly error: string }) => say(visibleLine(`left out: ${error}`)),
  };
  const split = await splitCases(task, await beginFolder(out), interruptSignal());
  await print(options.json ? jsonText({ ok: true, by: options.by, share: options.share, out, ...split }) : splitText(options, split));
}

function splitText({ out, by, dropDuplicates }: SplitCommandOptions, split: SplitSummary): string {
  const { train, test, undated, bad, nearDuplicates, dropped, mostAlike, unread } = split;
  const row = (name: string, of: (side: typeof train) => number) => {
    const share = (side: typeof train) => (side.cases === 0 ? '' : ` (${((100 * of(side)) / side.cases).toFixed(0)} %)`);
    return `${name.padEnd(18)}${String(of(train)).padStart(8)}${share(train).padEnd(9)}${String(of(test)).padStart(8)}${share(test)}`;
  };
  const categories = [...new Set([...Object.keys(train.categories), ...Object.keys(test.categories)])].sort();
  const counts = (side: typeof train, name: string) => Object.entries(side.categories).find(([one]) => one === name)?.[1] ?? 0;
  return [
    `${counted(train.cases, 'case')} in ${out}/train.jsonl, ${test.cases} in ${out}/test.jsonl, split by ${by}.`,
    `${''.padEnd(18)}${'train'.padStart(8)}${''.padEnd(9)}${'test'.padStart(8)}`,
    ...categories.map((name) => row(name === 'none' ? 'no category' : name, (side) => counts(side, name))),
    `${'projects'.padEnd(18)}${String(train.projects).padStart(8)}${''.padEnd(9)}${String(test.projects).padStart(8)}`,
    ...(undated === 0 ? [] : [`${counted(undated, 'case')} without happened_at: on neither side.`]),
    ...(bad === 0 ? [] : [`${counted(bad, 'row')} that cannot be read: left out.`]),
    ...(unread === 0 ? [] : [`${counted(unread, 'case')} whose log cannot be read: not compared.`]),
    nearText(nearDuplicates, dropped, dropDuplicates === true),
    ...mostAlike.map(({ train: left, test: right, score, sameFingerprint }) => {
      return `    ${score.toFixed(2)}  ${visibleLine(left)}  ${visibleLine(right)}${sameFingerprint ? '  (same fingerprint)' : ''}`;
    }),
  ].join('\n');
}

function nearText(pairs: number, dropped: number, asked: boolean): string {
  if (pairs === 0) return 'No near-duplicates across the split.';
  const done = asked ? `${dropped} left out of train.jsonl` : '--drop-duplicates leaves them out of train.jsonl';
  return `${counted(pairs, 'case')} for training nearly the same as a test case (${done}), all in near-duplicates.jsonl:`;
}
