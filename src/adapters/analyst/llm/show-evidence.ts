import type { Evidence } from '../../../domain/evidence.ts';
import type { Excerpt } from '../../../domain/failure.ts';
import { cleanLine, stripEscapes } from '../../../log/lines/clean.ts';
import { cutLine, cutMiddle } from './cut-text.ts';
import { cutAround, type TellingLines } from './telling-lines.ts';

/** Every piece that is shown gets at least this much, and at most half of the room that is left. */
const MIN_SHARE = 400;
/** Longer lines of a log are lists, dumps and progress; what they say stands at their beginning. */
const MAX_LOG_LINE = 400;
/** Most of a document or a past failure: its causes and fixes stand first. */
const MAX_RETRIEVED = 900;
/** Documents below this similarity are named only: what hardly resembles the failure fills a prompt and misleads. */
const WORTH_SHOWING = 0.5;
/** Below this they are not even named one by one. */
const WORTH_NAMING = 0.3;
/** Kept free for the numbers of what is not shown. */
const FOR_THE_REST = 100;
const NONE: TellingLines = new Map();
const RETRIEVED = new Set(['search_knowledge', 'search_error_library', 'find_similar_failures']);

/**
 * Evidence within a size limit, in the order of its numbers. Room goes first to what holds a telling line, then to what was looked up, to
 * the other excerpts, and to what was retrieved. What has no room is named, so that the model knows it exists.
 */
export function showEvidence(evidence: readonly Evidence[], limit: number, telling: TellingLines = NONE): string {
  const shown = new Map<string, string>();
  let room = limit - FOR_THE_REST;
  for (const item of byWorth(evidence, telling)) {
    const text = shownWithin(item, room, telling);
    if (text.length + 2 > room) continue;
    shown.set(item.id, text);
    room -= text.length + 2;
  }
  const missing = evidence.filter((item) => !shown.has(item.id));
  const unlike = missing.filter(isUnlike);
  return [
    ...evidence.flatMap((item) => shown.get(item.id) ?? []),
    ...named(
      missing.filter((item) => !isUnlike(item)),
      'no room to show',
    ),
    ...named(unlike, 'documents that hardly resemble this failure, not shown'),
  ].join('\n\n');
}

function byWorth(evidence: readonly Evidence[], telling: TellingLines): readonly Evidence[] {
  const rankOf = (item: Evidence): number => {
    if (RETRIEVED.has(item.tool)) return 1_000 - (item.score ?? 1);
    const { lineStart, lineEnd = lineStart } = item;
    if (lineStart === undefined || lineEnd === undefined) return 200;
    const first = (telling.get(item.source) ?? []).findIndex((line) => line >= lineStart && line <= lineEnd);
    if (first >= 0) return Math.min(first, 199);
    return item.tool === 'log' ? 300 : 200;
  };
  return evidence.filter((item) => !isUnlike(item)).toSorted((left, right) => rankOf(left) - rankOf(right));
}

/** What a person decided came back because it resembles; a document may be the best of a poor choice. */
function isUnlike(item: Evidence): boolean {
  return item.tool === 'search_knowledge' && (item.score ?? 1) < WORTH_NAMING;
}

function shownWithin(item: Evidence, room: number, telling: TellingLines): string {
  if (!RETRIEVED.has(item.tool)) return showItem(item, Math.max(MIN_SHARE, Math.floor(room / 2)), telling);
  const worth = item.tool !== 'search_knowledge' || (item.score ?? 1) >= WORTH_SHOWING;
  return worth ? showItem(item, MAX_RETRIEVED, telling) : `${item.id}: ${headOf(item)}`;
}

function named(items: readonly Evidence[], why: string): string[] {
  return items.length === 0 ? [] : [`${items.map(({ id }) => id).join(', ')}: ${why}`];
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
      ? cutMiddle(
          stripEscapes(item.text)
            .split('\n')
            .map((line) => cutLine(line)),
          share,
        ).join('\n')
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
    .map((line, offset) => `${lineStart + offset}| ${cutLine(cleanLine(line), MAX_LOG_LINE)}`);
  return cutAround(lines, lineStart, telling.get(shown.source) ?? [], limit).join('\n');
}
