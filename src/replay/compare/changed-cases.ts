import type { ReplayedCase } from '../run/replay.ts';
import type { ChangedCase, Comparison, Difference } from './comparison.ts';
import { worthOf } from './measure.ts';
import { MAIN_WORTHS } from './measures.ts';
import type { PairedCase } from './paired-cases.ts';

/** The cases that B answers better, worse, and only otherwise, in the data set's order: by the first main figure of those that are compared. */
export function changedCases(
  pairs: readonly PairedCase[],
  compared: readonly Pick<Difference, 'name'>[],
): Pick<Comparison, 'wonBy' | 'won' | 'lost' | 'changed'> {
  const main = MAIN_WORTHS.find(({ name }) => compared.some((one) => one.name === name));
  const [won, lost, changed]: [ChangedCase[], ChangedCase[], ChangedCase[]] = [[], [], []];
  for (const pair of pairs) {
    const { a, b } = pair.runs;
    const [before, after] = main === undefined ? [null, null] : [worthOf(a, main.worth), worthOf(b, main.worth)];
    const said = { a: saidOf(a), b: saidOf(b) };
    const one: ChangedCase = {
      id: pair.id,
      line: pair.line,
      url: addressOf(pair.row.source),
      truth: truthOf(pair, main?.name ?? null),
      said,
    };
    if (before !== null && after !== null && before !== after) (after > before ? won : lost).push(one);
    else if (said.a !== said.b) changed.push(one);
  }
  return { wonBy: main?.name ?? null, won, lost, changed };
}

/** The commonest category of the repeats, the first of several alike, how often it was said where not always; else what else there is to say. */
function saidOf(runs: readonly ReplayedCase[]): string {
  const answers = Map.groupBy(runs, answerOf);
  const [[answer, ones] = ['nothing', []]] = [...answers].sort(([, left], [, right]) => right.length - left.length);
  return ones.length === runs.length ? answer : `${answer} (${ones.length} of ${runs.length})`;
}

function answerOf({ row, result }: ReplayedCase): string {
  if (result.error !== null) return 'failed';
  if (result.category !== null && row?.category != null) {
    const published = result.action === 'auto_notify' ? ', published' : '';
    return `${result.category}${result.abstained === true ? ', abstained' : ''}${published}`;
  }
  if ((row?.faulty_files?.length ?? 0) > 0) return result.suspects[0]?.path ?? 'no suspect';
  const lines = result.excerpts.map(({ lineStart, lineEnd }) => (lineStart === lineEnd ? `${lineStart}` : `${lineStart}-${lineEnd}`));
  return lines.length === 0 ? 'nothing' : `lines ${shortened(lines)}`;
}

/** The label that decides, else the first that there is. */
function truthOf({ row }: PairedCase, wonBy: string | null): string {
  const files = shortened(row.faulty_files ?? []);
  const lines = `lines ${shortened((row.expected_lines ?? []).map(([start, end]) => (start === end ? `${start}` : `${start}-${end}`)))}`;
  if (wonBy === 'recall of labelled lines') return lines;
  if (row.category != null && !wonBy?.startsWith('faulty file'))
    return [row.category, ...(row.also_ok ?? []), ...(row.category_alternatives ?? [])].join(' or ');
  return files === '' ? lines : files;
}

const MOST_NAMED = 3;

function shortened(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Only what a browser may follow: a data set is somebody else's text. */
function addressOf(source: string | null | undefined): string | null {
  const url = source == null ? null : URL.parse(source);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : null;
}
