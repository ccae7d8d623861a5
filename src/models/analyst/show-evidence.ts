import type { Evidence } from '../../domain/evidence.ts';
import type { LogPosition, Section } from '../../domain/failure.ts';
import { classifyRole, type LineRole } from '../../log/line-roles.ts';
import { cleanLine, stripEscapes } from '../../log/lines/clean.ts';
import { BREAK } from '../../log/reports/passages.ts';
import { cutLine } from './show-facts.ts';

/** The parts of the evidence that a judgement must see, and those that it should see first. */
export interface Focus {
  /**
   * Characters for all of it, about four to a token. What was just asked for and what is quoted is shown
   * beyond it.
   */
  readonly room: number;
  /** The positions of the reader's findings, most informative first. */
  readonly informative?: readonly LogPosition[];
  /**
   * The output of the failed steps. Lines of other steps are shown only if they are informative. Absent or
   * empty if no step is known.
   */
  readonly steps?: readonly Stretch[];
  /** Ids of what is in the evidence only because there was room. */
  readonly fill?: ReadonlySet<string>;
  /** Ids of what the last questions brought: each is shown whole, up to 40 lines. */
  readonly newest?: ReadonlySet<string>;
  /**
   * Ids of what the answer cites: shown whole where it is short, else before anything that is not asked for
   * or quoted.
   */
  readonly cited?: ReadonlySet<string>;
  /** Lines that the answer quotes: always shown, with those around them. */
  readonly quoted?: readonly LogPosition[];
}

/** Lines of a log, both ends included. */
type Stretch = Pick<Section, 'source' | 'lineStart' | 'lineEnd'>;

/**
 * A line of a log or file that some evidence holds. `worth` is higher for what should be seen first; from
 * MUST on it is shown in any case.
 */
interface Line {
  readonly source: string;
  readonly line: number;
  text: string;
  readonly ids: string[];
  worth: number;
}

type Placed = Evidence & { readonly lineStart: number };

const MUST = 1_000;
/**
 * The maximum excess of required lines over the room, as a multiple of the room. It limits an answer that
 * cites everything.
 */
const BEYOND = 2;
/** Lines of one answer of a tool that are shown in any case, and of all of them together. */
const [REQUESTED, MOST_REQUESTED] = [40, 160];
/** Cited evidence of so few lines is shown whole; of longer one what is quoted. */
const SHORT = 12;
/** Longer lines of a log are lists, dumps and progress; their beginning and their end tell most. */
const MAX_LINE = 400;
/**
 * Lines above and below a informative one: what led to it, and how its message goes on; and how near noise
 * may stand to be shown with it.
 */
const [ABOVE, BELOW, BESIDE] = [4, 6, 1];
const ROLE_WORTH: Readonly<Record<LineRole, number>> = {
  cause: 200,
  wrapper: 150,
  ending: 150,
  notice: 40,
  passing: 10,
  progress: 10,
  echo: 10,
  blank: 0,
};
/** Below this a line of the log is noise: it only fills small gaps. */
const NOISE = 100;
const [INFORMATIVE, NEAR, CITED, NEWEST, LOOKED_UP, COMMAND] = [700, 450, 800, 600, 260, 180];
/** The weight factor for the output of other steps. */
const ELSEWHERE = 0.6;
/** Lines of the failed step's script and settings, from the first one on. */
const MOST_OF_SCRIPT = 20;
/** The first informative lines count most. */
const PER_RANK = 5;
const LAST_RANK = 40;
/**
 * Gaps so small cost less than the mark for them; where there is room for twice what is shown, wider ones are
 * filled too.
 */
const [GAP, WIDE_GAP] = [2, 6];

/** Share of the room for documents, history and other evidence that has no lines. */
const OTHERS = 0.35;
const MAX_ITEM = 1_500;
const MAX_CITED = 4_000;
/** Most of a document or a past failure that nothing cites: its causes and fixes stand first. */
const MAX_RETRIEVED = 900;
const RETRIEVED: ReadonlySet<string> = new Set([
  'search_knowledge',
  'search_error_library',
  'find_similar_failures',
]);
/**
 * Documents below this similarity are named only: what hardly resembles the failure fills a prompt and
 * misleads.
 */
const WORTH_SHOWING = 0.5;
/** Below this they are only counted. */
const WORTH_NAMING = 0.3;
const MOST_NAMED = 12;
/** The maximum length of a heading. Many hits of one search repeat its words. */
const MAX_TITLE = 90;

/**
 * Formats evidence for a judgement. Lines of logs and files come first, in their own order and once each,
 * under the ids of the evidence that contains them; then
 * documents, history and similar items, newest first; then one line for each item without room. Lines are
 * chosen individually: requested lines, quoted lines,
 * lines that the reader found informative with their context, and other possible causes. Progress, passing
 * tests and echoed scripts are left out;
 * repeated lines are added last.
 */
export function showEvidence(evidence: readonly Evidence[], focus: Focus): string {
  const placed = evidence.filter((item): item is Placed => item.lineStart !== undefined);
  const others = selectOthersWithin(
    evidence.filter(({ lineStart }) => lineStart === undefined),
    focus,
  );
  const lines = chooseLines(weighLines(placed, focus), Math.max(focus.room / 2, focus.room - others.size));
  const visibleIds = new Set([...others.shown.keys(), ...lines.flatMap(({ ids }) => ids)]);
  return [
    ...groupBlocks(lines, placed, focus),
    ...others.shown.values(),
    ...listUnshown(evidence.filter(({ id }) => !visibleIds.has(id) && focus.fill?.has(id) !== true)),
  ].join('\n\n');
}

function weighLines(placed: readonly Placed[], focus: Focus): Map<string, Map<number, Line>> {
  const sources = new Map<string, Map<number, Line>>();
  let requested = 0;
  for (const item of placed) {
    const known = sources.get(item.source) ?? new Map<number, Line>();
    sources.set(item.source, known);
    const isNew = focus.newest?.has(item.id) === true;
    const lines = stripEscapes(item.text).split('\n');
    for (const [offset, raw] of lines.entries()) {
      const number = item.lineStart + offset;
      const line = known.get(number) ?? createLine(item, number, raw);
      known.set(number, line);
      // Excerpts of a report may each have their part of one line.
      const more = item.tool === 'log' && line.ids.length > 0 ? cleanLine(raw) : '';
      if (!line.text.includes(more)) line.text = cutLine(`${line.text}${BREAK}${more}`, MAX_LINE);
      line.ids.push(item.id);
      if (item.tool !== 'log') line.worth = Math.max(line.worth, LOOKED_UP);
      if (focus.cited?.has(item.id) === true)
        line.worth = Math.max(line.worth, lines.length <= SHORT ? MUST : CITED);
      if (isNew)
        line.worth = Math.max(line.worth, offset < REQUESTED && requested++ < MOST_REQUESTED ? MUST : NEWEST);
    }
  }
  for (const [source, lines] of sources) weighSteps(source, lines, focus);
  for (const [rank, { source, line }] of (focus.informative ?? []).entries()) {
    const less = Math.min(rank, LAST_RANK) * PER_RANK;
    raise(sources.get(source), line, INFORMATIVE - less, NEAR - less);
  }
  for (const { source, line } of focus.quoted ?? []) raise(sources.get(source), line, MUST, CITED);
  return sources;
}

function createLine({ source, tool }: Placed, line: number, raw: string): Line {
  const text = cleanLine(raw);
  return {
    source,
    line,
    text: cutLine(text, MAX_LINE),
    ids: [],
    worth: tool === 'log' ? ROLE_WORTH[classifyRole(text)] : LOOKED_UP,
  };
}

/**
 * Lowers the weight of echoed scripts, except for the first lines of the failed step's script, and of the
 * output of other steps.
 */
function weighSteps(source: string, lines: ReadonlyMap<number, Line>, { steps = [], fill }: Focus): void {
  const here = steps.filter((step) => step.source === source);
  let script = Number.POSITIVE_INFINITY;
  let last = 0;
  for (const line of [...lines.values()].sort((left, right) => left.line - right.line)) {
    // Where lines are missing, the end of the echo may be among them.
    if (line.line !== last + 1) script = Number.POSITIVE_INFINITY;
    last = line.line;
    if (ECHO_BEGINS.test(line.text)) script = 0;
    const isInside =
      here.length === 0 ||
      here.some(({ lineStart, lineEnd }) => line.line >= lineStart && line.line <= lineEnd);
    if (line.worth < LOOKED_UP) {
      if (script < Number.POSITIVE_INFINITY)
        line.worth = isInside && script < MOST_OF_SCRIPT && here.length > 0 ? COMMAND : 0;
      else if (!isInside) line.worth = line.ids.every((id) => fill?.has(id)) ? 0 : line.worth * ELSEWHERE;
    }
    script = ECHO_ENDS.test(line.text) ? Number.POSITIVE_INFINITY : script + 1;
  }
}

/**
 * Patterns for the block in which GitHub Actions and similar systems print the script of a step, its shell
 * and its variables before running it.
 */
const [ECHO_BEGINS, ECHO_ENDS] = [/(?:##\[group\]|::group::)Run /, /(?:##\[endgroup\]|::endgroup::)/];

function raise(lines: ReadonlyMap<number, Line> | undefined, at: number, worth: number, near: number): void {
  for (let offset = -ABOVE; offset <= BELOW; offset++) {
    const line = lines?.get(at + offset);
    if (line === undefined || (line.worth < NOISE && Math.abs(offset) > BESIDE)) continue;
    line.worth = Math.max(line.worth, offset === 0 ? worth : near - 10 * Math.abs(offset));
  }
}

/** Returns the lines with the highest weight that fit into the room, in their own order. */
function chooseLines(sources: ReadonlyMap<string, ReadonlyMap<number, Line>>, room: number): Line[] {
  const all = [...sources.values()].flatMap((lines) => [...lines.values()]);
  const kept = new Set<Line>();
  let left = room;
  const keep = (line: Line) => {
    const cost = line.text.length + String(line.line).length + 3;
    if (cost > left && (line.worth < MUST || cost > left + room * BEYOND)) return;
    kept.add(line);
    left -= cost;
  };
  const seen = new Set<string>();
  const repeated: Line[] = [];
  for (const line of all
    .filter(({ worth }) => worth >= NOISE)
    .toSorted((one, right) => right.worth - one.worth)) {
    const words = line.text.replace(/\d+/g, '0');
    if (line.worth < MUST && seen.has(words)) repeated.push(line);
    else keep(line);
    seen.add(words);
  }
  repeated.forEach(keep);
  const gap = left * 2 > room ? WIDE_GAP : GAP;
  for (const lines of sources.values()) fillGaps(lines, kept, gap);
  return [...sources.values()].flatMap((lines) =>
    [...lines.values()].filter((line) => kept.has(line)).sort((one, right) => one.line - right.line),
  );
}

function fillGaps(lines: ReadonlyMap<number, Line>, kept: Set<Line>, widest: number): void {
  const numbers = [...lines.values()].filter((line) => kept.has(line)).map(({ line }) => line);
  for (const [index, number] of numbers.sort((left, right) => left - right).entries()) {
    const missing = (numbers[index + 1] ?? 0) - number - 1;
    if (missing < 1 || missing > widest) continue;
    const between = Array.from({ length: missing }, (_, offset) => lines.get(number + offset + 1)).filter(
      (line) => line !== undefined,
    );
    if (between.length === missing) for (const line of between) kept.add(line);
  }
}

/**
 * Groups consecutive lines under the evidence that contains them. Cited and newly requested evidence keeps
 * its id within a longer piece.
 */
function groupBlocks(lines: readonly Line[], placed: readonly Placed[], { cited, newest }: Focus): string[] {
  const titles = new Map(placed.map(({ id, title }) => [id, title]));
  const runs: Line[][] = [];
  for (const line of lines) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run !== undefined && last?.source === line.source && line.line === last.line + 1) run.push(line);
    else runs.push([line]);
  }
  return runs.map((run) => {
    const all = [...new Set(run.flatMap((line) => line.ids))];
    const whole = all.filter((id) => run.every((line) => line.ids.includes(id)));
    const ids = whole.length === 0 ? all : whole.slice(0, 2);
    const inside = all
      .filter((id) => !ids.includes(id) && (cited?.has(id) === true || newest?.has(id) === true))
      .slice(0, MOST_NAMED);
    const places = inside.map((id) => `${id} from line ${run.find((line) => line.ids.includes(id))?.line}`);
    const titled = [...new Set(ids.map((id) => cutLine(formatTitle(titles.get(id) ?? ''), MAX_TITLE)))]
      .slice(0, 2)
      .join('; ');
    return [
      `${[...ids, ...places].join(', ')}: source ${run[0]?.source}, ` +
        `lines ${run[0]?.line}-${run.at(-1)?.line} (${titled})`,
      ...run.map(({ line, text }) => `${line}| ${text}`),
    ].join('\n');
  });
}

/** Selects evidence without lines: cited items first, then the newest, then by score. */
function selectOthersWithin(
  items: readonly Evidence[],
  { room, cited, newest }: Focus,
): { shown: Map<string, string>; size: number } {
  const texts = new Map<string, string>();
  const rank = ({ id, score }: Evidence) =>
    (cited?.has(id) === true ? 3 : 0) + (newest?.has(id) === true ? 1 : 0) + (score ?? 0.5);
  let size = 0;
  for (const item of items.toSorted((left, right) => rank(right) - rank(left))) {
    const isCited = cited?.has(item.id) === true;
    if (!isCited && item.tool === 'search_knowledge' && (item.score ?? 1) < WORTH_SHOWING) continue;
    const most = isCited ? MAX_CITED : RETRIEVED.has(item.tool) ? MAX_RETRIEVED : MAX_ITEM;
    const text = `${item.id}: ${formatHeading(item)}\n${cutText(item.text, most)}`;
    if (size + text.length > room * (isCited ? BEYOND : OTHERS)) continue;
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

/** Lists the evidence that has no room, so that the model knows about it and can ask for it. */
function listUnshown(items: readonly Evidence[]): string[] {
  const isUnlike = ({ tool, score = 1 }: Evidence) => tool === 'search_knowledge' && score < WORTH_NAMING;
  const worth = items.filter((item) => !isUnlike(item));
  const rest = worth.length - MOST_NAMED;
  const lines = worth.slice(0, MOST_NAMED).map((item) => `${item.id}: ${formatHeading(item)}`);
  if (rest > 0)
    lines.push(
      `${worth
        .slice(MOST_NAMED)
        .map(({ id }) => id)
        .join(', ')}: not shown`,
    );
  const unlike = items.length - worth.length;
  return [
    ...(lines.length === 0 ? [] : [`Not shown here:\n${lines.join('\n')}`]),
    ...(unlike === 0
      ? []
      : [
          `${unlike === 1 ? '1 document that hardly resembles' : `${unlike} documents that hardly resemble`} ` +
            'this failure: left out',
        ]),
  ];
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
