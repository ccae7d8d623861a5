import type { Evidence } from '../../../domain/evidence.ts';
import type { Excerpt } from '../../../domain/failure.ts';
import { cleanLine, stripEscapes } from '../../../log/lines/clean.ts';
import { cutLine, cutMiddle } from './cut-text.ts';

const MAX_SHARE = 5_000;
const MIN_SHARE = 400;

/** Evidence by number within a size limit. What has no room is named, so that the model knows it exists. */
export function showEvidence(evidence: readonly Evidence[], limit: number): string {
  const share = Math.min(MAX_SHARE, Math.max(MIN_SHARE, Math.floor((limit * 0.9) / Math.max(1, evidence.length))));
  return withinLimit(
    evidence.map((item) => ({ full: showItem(item, share), short: `${item.id}: ${headOf(item)} (no room to show it)` })),
    limit,
  );
}

/** Excerpts within a size limit, the most telling ones first where there is not room for all. */
export function showExcerpts(excerpts: readonly Excerpt[], limit: number): string {
  const byWeight = [...excerpts].sort((left, right) => right.weight - left.weight);
  return withinLimit(
    byWeight.map((excerpt) => {
      const head = `${excerpt.source} lines ${excerpt.lineStart}-${excerpt.lineEnd} (${excerpt.reason})`;
      return { full: `${head}\n${numbered(excerpt.text, excerpt.lineStart, limit / 2)}`, short: `${head}: no room to show it` };
    }),
    limit,
  );
}

function withinLimit(items: readonly { readonly full: string; readonly short: string }[], limit: number): string {
  const shown: string[] = [];
  let room = limit;
  for (const item of items) {
    const text = item.full.length + 2 <= room ? item.full : item.short;
    shown.push(text);
    room -= text.length + 2;
  }
  return shown.join('\n\n');
}

function showItem(item: Evidence, share: number): string {
  const body =
    item.lineStart === undefined
      ? cutMiddle(stripEscapes(item.text).split('\n').map(cutLine), share).join('\n')
      : numbered(item.text, item.lineStart, share);
  return `${item.id}: ${headOf(item)}\n${body}`;
}

function headOf(item: Evidence): string {
  const lines = item.lineStart === undefined ? '' : ` lines ${item.lineStart}-${item.lineEnd ?? item.lineStart}`;
  const score = item.score === undefined ? '' : `, similarity ${item.score.toFixed(2)}`;
  return `${cutLine(item.title.replace(/\s+/g, ' '))} [tool ${item.tool}, source ${item.source}${lines}${score}]`;
}

/** Lines with their numbers, as a person saw them: without colours and the CI's own prefix. */
function numbered(text: string, lineStart: number, limit: number): string {
  const lines = stripEscapes(text)
    .split('\n')
    .map((line, offset) => `${lineStart + offset}| ${cutLine(cleanLine(line))}`);
  return cutMiddle(lines, limit).join('\n');
}
