import type { Evidence } from '../../../domain/evidence.ts';
import type { Excerpt } from '../../../domain/failure.ts';
import { cleanLine, stripEscapes } from '../../../log/lines/clean.ts';
import { cutLine, cutMiddle } from './cut-text.ts';
import { cutAround, type TellingLines } from './telling-lines.ts';

const MAX_SHARE = 5_000;
const MIN_SHARE = 400;
/** Most of a document or a past failure: its causes and fixes stand first. */
const MAX_RETRIEVED = 900;
/** Retrieved texts below this similarity are named only: what hardly resembles the failure fills a prompt and misleads. */
const WORTH_SHOWING = 0.5;
/** Below this they are not even named one by one. */
const WORTH_NAMING = 0.3;
const NONE: TellingLines = new Map();
const RETRIEVED = new Set(['search_knowledge', 'search_error_library', 'find_similar_failures']);

/**
 * Evidence within a size limit: what this build printed and what was looked up in its code and history first, each with an equal share
 * of the room; then what was retrieved, cut shorter. What has no room is named, so that the model knows it exists.
 */
export function showEvidence(evidence: readonly Evidence[], limit: number, telling: TellingLines = NONE): string {
  const own = evidence.filter((item) => !RETRIEVED.has(item.tool));
  const retrieved = evidence.filter((item) => RETRIEVED.has(item.tool) && (item.score ?? 1) >= WORTH_NAMING);
  const unlike = evidence.filter((item) => RETRIEVED.has(item.tool) && !retrieved.includes(item));
  const share = Math.min(MAX_SHARE, Math.max(MIN_SHARE, Math.floor((limit * 0.8) / Math.max(1, own.length))));
  return withinLimit(
    [
      ...own.map((item) => ({ full: showItem(item, share, telling), short: `${item.id}: ${headOf(item)} (no room to show it)` })),
      ...retrieved.map((item) => {
        const short = `${item.id}: ${headOf(item)}`;
        const worth = (item.score ?? 1) >= WORTH_SHOWING;
        return { full: worth ? showItem(item, Math.min(share, MAX_RETRIEVED), telling) : short, short };
      }),
      ...(unlike.length === 0 ? [] : [named(unlike)]),
    ],
    limit,
  );
}

/** Excerpts within a size limit, the most telling ones first where there is not room for all. */
export function showExcerpts(excerpts: readonly Excerpt[], limit: number, telling: TellingLines = NONE): string {
  const byWeight = [...excerpts].sort((left, right) => right.weight - left.weight);
  return withinLimit(
    byWeight.map((excerpt) => {
      const head = `${excerpt.source} lines ${excerpt.lineStart}-${excerpt.lineEnd} (${excerpt.reason})`;
      return { full: `${head}\n${numbered(excerpt, excerpt.lineStart, (limit * 2) / 3, telling)}`, short: `${head}: no room to show it` };
    }),
    limit,
  );
}

function named(unlike: readonly Evidence[]) {
  const text = `${unlike.map(({ id }) => id).join(', ')}: documents that hardly resemble this failure, not shown`;
  return { full: text, short: text };
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

function showItem(item: Evidence, share: number, telling: TellingLines): string {
  const body =
    item.lineStart === undefined
      ? cutMiddle(stripEscapes(item.text).split('\n').map(cutLine), share).join('\n')
      : numbered(item, item.lineStart, share, telling);
  return `${item.id}: ${headOf(item)}\n${body}`;
}

function headOf(item: Evidence): string {
  const lines = item.lineStart === undefined ? '' : ` lines ${item.lineStart}-${item.lineEnd ?? item.lineStart}`;
  const score = item.score === undefined ? '' : `, similarity ${item.score.toFixed(2)}`;
  return `${cutLine(item.title.replace(/\s+/g, ' '))} [tool ${item.tool}, source ${item.source}${lines}${score}]`;
}

/** Lines with their numbers, as a person saw them: without colours and the CI's own prefix. */
function numbered(
  shown: { readonly source: string; readonly text: string },
  lineStart: number,
  limit: number,
  telling: TellingLines,
): string {
  const lines = stripEscapes(shown.text)
    .split('\n')
    .map((line, offset) => `${lineStart + offset}| ${cutLine(cleanLine(line))}`);
  return cutAround(lines, lineStart, telling.get(shown.source) ?? [], limit).join('\n');
}
