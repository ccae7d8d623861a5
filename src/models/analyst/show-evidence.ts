import type { Evidence } from '../../domain/evidence.ts';
import { classifyRole } from '../../log/line-roles.ts';
import { stripEscapes } from '../../log/lines/clean.ts';
import { BEYOND, type ChosenLines, chooseLines, type Focus, type Line, type Placed } from './choose-lines.ts';
import { cutLine } from './cut-line.ts';

/** The share of the room for evidence without lines, such as documents and history. */
const OTHERS = 0.35;
/**
 * The maximum length of one item in characters, and of one that is cited or was just requested. The latter is
 * the maximum that a tool returns.
 */
const [MAX_ITEM, MAX_CITED] = [1_500, 4_000];
/**
 * The maximum length of a document or a past failure that is not cited, in characters. Its causes and fixes
 * come first.
 */
const MAX_RETRIEVED = 900;
const RETRIEVED: ReadonlySet<string> = new Set([
  'search_knowledge',
  'search_error_library',
  'find_similar_failures',
]);
/**
 * The minimum similarity of a document that is shown. Others are only named, because an unrelated document
 * fills the prompt and misleads.
 */
const WORTH_SHOWING = 0.5;
/** The minimum similarity of a document that is named. Others are only counted. */
const WORTH_NAMING = 0.3;
const MAX_NAMED = 12;
/** The maximum length of a title of lines, and of one of lines that were asked for or are cited. */
const [MAX_TITLE, MAX_WANTED_TITLE] = [90, 200];

/**
 * Formats evidence for a judgment. Lines of logs and files come first, each once and in the order of the
 * source, under the ids of the evidence that contains them. Documents, history and similar items follow,
 * newest first. At the end, each item without room and the requested lines that were too long take one line
 * each.
 */
export function showEvidence(evidence: readonly Evidence[], focus: Focus): string {
  const placed = evidence.filter((item): item is Placed => item.lineStart !== undefined);
  const others = selectOthersWithin(
    evidence.filter(({ lineStart }) => lineStart === undefined),
    focus,
  );
  const chosen = chooseLines(placed, focus, Math.max(focus.room / 2, focus.room - others.size));
  const visibleIds = new Set([...others.shown.keys(), ...chosen.lines.flatMap(({ ids }) => ids)]);
  return [
    ...groupBlocks(chosen, placed, focus),
    ...others.shown.values(),
    ...listUnshown(evidence.filter(({ id }) => !visibleIds.has(id) && focus.fill?.has(id) !== true)),
    ...listMissing(chosen.missing),
  ].join('\n\n');
}

/** The maximum distance between two lines of one block, in lines. */
const FAR = 12;

/** Groups neighboring lines under the evidence that contains them. */
function groupBlocks(chosen: ChosenLines, placed: readonly Placed[], focus: Focus): string[] {
  const items = new Map(placed.map((item) => [item.id, item]));
  const blocks: Line[][] = [];
  for (const line of chosen.lines) {
    const block = blocks.at(-1);
    const last = block?.at(-1);
    if (block !== undefined && last?.source === line.source && line.line <= last.line + FAR) block.push(line);
    else blocks.push([line]);
  }
  return blocks.map((block) => [formatHeader(block, items, focus), ...formatLines(block, chosen)].join('\n'));
}

/**
 * Formats the ids of the evidence that contains the lines. An id without line numbers contains all of them.
 */
function formatHeader(
  block: readonly Line[],
  items: ReadonlyMap<string, Placed>,
  { cited, newest }: Focus,
): string {
  const [first = 0, last = 0] = [block[0]?.line, block.at(-1)?.line];
  const spans = [...new Set(block.flatMap(({ ids }) => ids))].flatMap((id) => {
    const item = items.get(id);
    if (item === undefined) return [];
    const end = item.lineEnd ?? item.lineStart + item.text.split('\n').length - 1;
    return { id, title: item.title, from: Math.max(first, item.lineStart), to: Math.min(last, end) };
  });
  const isNamed = (id: string) => cited?.has(id) === true || newest?.has(id) === true;
  const named = spans
    .filter(
      (span, index) =>
        isNamed(span.id) ||
        !spans.some(
          (other, otherIndex) =>
            other.from <= span.from &&
            other.to >= span.to &&
            (other.to - other.from > span.to - span.from || otherIndex < index),
        ),
    )
    .slice(0, MAX_NAMED);
  const places = named.map(({ id, from, to }) => {
    if (from === first && to === last) return id;
    return from === to ? `${id} line ${from}` : `${id} lines ${from}-${to}`;
  });
  const titles = listTitles(named, isNamed);
  return `${places.join(', ')}: source ${block[0]?.source}, lines ${first}-${last} (${titles.join('; ')})`;
}

/**
 * Lists the titles of evidence once each: all of those that were asked for or are cited, with the ids of
 * which they are true, because a title may say who wrote the lines and when; of others the first two.
 */
function listTitles(
  named: readonly { readonly id: string; readonly title: string }[],
  isWanted: (id: string) => boolean,
): string[] {
  const byTitle = Map.groupBy(named, ({ id, title }) => {
    const words = title.replace(/\s+/g, ' ').replace(OWN_LINES, '');
    return cutLine(words, isWanted(id) ? MAX_WANTED_TITLE : MAX_TITLE);
  });
  const titles = [...byTitle].map(([title, items]) => ({ title, ids: items.map(({ id }) => id) }));
  const chosen = titles.filter(({ ids }, index) => index < 2 || ids.some(isWanted));
  return chosen.map(({ title, ids }) => (chosen.length > 1 ? `${ids.join(', ')}: ${title}` : title));
}

/** The end of a title that repeats the lines that the header names. */
const OWN_LINES = /, lines \d+–\d+$/;

/** The maximum number of repeated lines whose numbers are listed. */
const MAX_REPEATS = 12;

/** Formats numbered lines, with a mark for each informative gap and for repeated lines. */
function formatLines(block: readonly Line[], { repeats, known }: ChosenLines): string[] {
  const counted = new Set([...repeats.values()].flat());
  return block.flatMap((line, index) => {
    const before = block[index - 1];
    const gap = before === undefined ? [] : formatGap(before.line + 1, line.line - 1, line.source);
    const same = [...(repeats.get(line) ?? [])].sort((left, right) => left - right);
    const more = same.length > MAX_REPEATS ? ` and ${same.length - MAX_REPEATS} more` : '';
    const numbers = same.slice(0, MAX_REPEATS).join(', ');
    const note = `   [repeats on line${same.length === 1 ? '' : 's'} ${numbers}${more}]`;
    return [...gap, `${line.line}| ${line.text}`, ...(same.length === 0 ? [] : [note])];
  });

  function formatGap(from: number, to: number, source: string): string[] {
    const between = Array.from({ length: to - from + 1 }, (_, i) => known.get(source)?.get(from + i));
    const hidden = between.filter(
      (line) => line === undefined || !TELLS_NOTHING.has(classifyRole(line.text)),
    );
    if (hidden.every((line) => line !== undefined && counted.has(line.line))) return [];
    return ['…'];
  }
}

/** Roles of lines that are left out without a mark. */
const TELLS_NOTHING: ReadonlySet<string> = new Set(['blank', 'echo', 'passing', 'progress', 'notice']);

/** Formats a note on requested lines that are not shown, so that the model can request smaller ranges. */
function listMissing(missing: readonly Line[]): string[] {
  if (missing.length === 0) return [];
  const ranges: { source: string; from: number; to: number }[] = [];
  for (const { source, line } of missing.toSorted((left, right) => left.line - right.line)) {
    const range = ranges.find((some) => some.source === source && some.to === line - 1);
    if (range === undefined) ranges.push({ source, from: line, to: line });
    else range.to = line;
  }
  const places = ranges.slice(0, MAX_NAMED).map(({ source, from, to }) => `${source} lines ${from}-${to}`);
  return [`Too long to be shown at once: ${places.join('; ')}`];
}

/**
 * Selects evidence without lines that fits: cited items first, then the newest items, both in full, then the
 * others by score.
 */
function selectOthersWithin(
  items: readonly Evidence[],
  { room, cited, newest, onlyNamed = false }: Focus,
): { shown: Map<string, string>; size: number } {
  const texts = new Map<string, string>();
  const rank = ({ id, score }: Evidence) =>
    (cited?.has(id) === true ? 3 : 0) + (newest?.has(id) === true ? 1 : 0) + (score ?? 0.5);
  let size = 0;
  for (const item of items.toSorted((left, right) => rank(right) - rank(left))) {
    const isWanted = cited?.has(item.id) === true || newest?.has(item.id) === true;
    const isUnlike = item.tool === 'search_knowledge' && (item.score ?? 1) < WORTH_SHOWING;
    if (!isWanted && (isUnlike || (onlyNamed && RETRIEVED.has(item.tool)))) continue;
    const most = isWanted ? MAX_CITED : RETRIEVED.has(item.tool) ? MAX_RETRIEVED : MAX_ITEM;
    const text = `${item.id}: ${formatHeading(item)}\n${cutText(item.text, most)}`;
    if (size + text.length > room * (isWanted ? BEYOND : OTHERS)) continue;
    texts.set(item.id, text);
    size += text.length + 2;
  }
  return { shown: texts, size };
}

function cutText(text: string, most: number): string {
  const lines = stripEscapes(text)
    .split('\n')
    .map((line) => cutLine(line));
  const kept: string[] = [];
  let room = most;
  for (const line of lines) {
    room -= line.length + 1;
    if (room < 0) break;
    kept.push(line);
  }
  const missing = lines.length - kept.length;
  return missing === 0 ? kept.join('\n') : [...kept, `[… ${missing} more lines …]`].join('\n');
}

/** Lists the evidence that does not fit, so that the model can request it. */
function listUnshown(items: readonly Evidence[]): string[] {
  const isUnlike = ({ tool, score = 1 }: Evidence) => tool === 'search_knowledge' && score < WORTH_NAMING;
  const worth = items.filter((item) => !isUnlike(item));
  const rest = worth.length - MAX_NAMED;
  const lines = worth.slice(0, MAX_NAMED).map((item) => `${item.id}: ${formatHeading(item)}`);
  if (rest > 0)
    lines.push(
      `${worth
        .slice(MAX_NAMED)
        .map(({ id }) => id)
        .join(', ')}: not shown`,
    );
  const unlike = items.length - worth.length;
  return [
    ...(lines.length === 0 ? [] : [`Not shown here:\n${lines.join('\n')}`]),
    ...(unlike === 0 ? [] : [`${describeUnlike(unlike)} this failure: left out`]),
  ];
}

function describeUnlike(count: number): string {
  return count === 1 ? '1 document that hardly resembles' : `${count} documents that hardly resemble`;
}

function formatHeading(item: Evidence): string {
  const lines =
    item.lineStart === undefined ? '' : ` lines ${item.lineStart}-${item.lineEnd ?? item.lineStart}`;
  const score = item.score === undefined ? '' : `, similarity ${item.score.toFixed(2)}`;
  return `${formatTitle(item.title)} [tool ${item.tool}, source ${item.source}${lines}${score}]`;
}

function formatTitle(title: string): string {
  return cutLine(title.replace(/\s+/g, ' '), 160);
}
