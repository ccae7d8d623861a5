import type { Excerpt } from '../../domain/failure.ts';
import { findCommandLines } from '../commands/command-lines.ts';
import type { Block } from '../extract/extraction.ts';
import { findNewBlocks, type GreenDiff, splitBlock } from '../green/green-diff.ts';
import { isUninformative } from '../line-roles.ts';
import { stripEscapes, stripPrefixes } from '../lines/clean.ts';
import type { LogText } from '../lines/lines.ts';
import type { Structure } from '../sections.ts';
import { countTokens } from './tokens.ts';

/** The minimum weight of blocks that get context. */
const WORTH_CONTEXT = 30;
/** The maximum number of blocks that get context. The heaviest ones do. */
const MAX_CONTEXT = 150;

/**
 * Weighs proposed blocks by their position: in a failed step or outside, early or late, once or repeated.
 * Adds the lines around the heaviest blocks and the ends of the failed steps as lighter blocks, which fill
 * the remaining budget. If there is a green build, new lines gain weight, known ones lose weight, and blocks
 * of other new lines are added.
 */
export function weighBlocks(
  log: LogText,
  proposed: readonly Block[],
  structure: Structure,
  green: GreenDiff | null,
): Block[] {
  const heavy = weighRepeats(log, proposed, structure);
  const ends = createEndBlocks(log, structure);
  if (green === null) return [...heavy, ...createContextBlocks(log, heavy), ...ends];
  return [...rankAgainstPassing(log, heavy, structure, green), ...ends];
}

/** Returns only the last lines of a log, for measurements. */
export function getLastLines(log: LogText): Block[] {
  return [tail(1, log.lineCount, log.lineCount, 60, 'end of the log')];
}

/**
 * Weighs blocks in comparison with a green build. Blocks of known lines get no context. The context of new
 * blocks weighs 38 at most, less than new lines near informative ones.
 */
function rankAgainstPassing(
  log: LogText,
  heavy: readonly Block[],
  structure: Structure,
  green: GreenDiff,
): Block[] {
  const split = heavy.map((block) => splitBlock(block, green));
  const parts = split.flatMap((block) => block.parts);
  const informative = parts.filter(({ weight }) => weight >= WORTH_CONTEXT);
  const context = createContextBlocks(log, parts).map((block, i) => ({
    ...block,
    weight: Math.min(block.weight, i % 2 === 0 ? 38 : 30),
  }));
  const wide = informative.slice(0, MAX_CONTEXT).map((block) => createBlockAround(log, block, 12, 3, 26));
  return [
    ...parts,
    ...split.flatMap(({ whole }) => whole),
    ...context,
    ...wide,
    ...findNewBlocks(log, green, structure, informative),
  ];
}

function placeWeight(block: Block, structure: Structure, log: LogText): number {
  const late = (4 * block.end) / log.lineCount;
  if (structure.failedSections.length === 0) return late;
  const section = structure.failedSections.find(
    ({ lineStart, lineEnd }) => block.start >= lineStart && block.start <= lineEnd,
  );
  if (section !== undefined) return section.consequence === true ? late - 8 : late + 6;
  return structure.afterwards.some(({ start, end }) => block.start >= start && block.start <= end)
    ? -24
    : -16;
}

/** The maximum number of equal single lines that are shown. The others are only counted. */
const MAX_SHOWN = 4;

/**
 * Lowers the weight of a repeated text each time it occurs. Of equal single lines, only the first few are
 * kept, and the reason of the first one states their number.
 */
function weighRepeats(log: LogText, proposed: readonly Block[], structure: Structure): Block[] {
  const seen = new Map<string, { times: number; readonly first: number }>();
  const heavy: Block[] = [];
  for (const block of proposed) {
    const key = `${block.reason}\u0001${block.end - block.start}\u0001${log.line(block.start).slice(0, 200).replace(/\d+/g, '0')}`;
    const known = seen.get(key) ?? { times: 0, first: heavy.length };
    seen.set(key, known);
    const weight = block.weight + placeWeight(block, structure, log) - Math.min(known.times++ * 2, 24);
    if (block.loose !== true || known.times <= MAX_SHOWN) heavy.push({ ...block, weight });
  }
  for (const { times, first } of seen.values()) {
    const block = heavy[first];
    if (block?.loose === true && times > MAX_SHOWN)
      heavy[first] = { ...block, reason: `${block.reason}, ${times} times` };
  }
  return heavy;
}

function createContextBlocks(log: LogText, heavy: readonly Block[]): Block[] {
  const best = heavy
    .filter(({ weight }) => weight >= WORTH_CONTEXT)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MAX_CONTEXT);
  return best.flatMap((block) => [
    createBlockAround(log, block, 2, 3, block.weight - (block.loose === true ? 14 : 30)),
    createBlockAround(log, block, 5, 10, block.weight - (block.loose === true ? 30 : 40)),
  ]);
}

function createBlockAround(log: LogText, block: Block, before: number, after: number, weight: number): Block {
  return {
    start: Math.max(1, block.start - before),
    end: Math.min(log.lineCount, block.end + after),
    weight,
    reason: `around: ${block.reason}`,
  };
}

/** A log of at most this many lines is kept whole, if the budget allows. */
const SHORT_LOG = 300;
/** The weight of the failed command. It is kept unless there is hardly any room. */
const COMMAND = 95;

function createEndBlocks(log: LogText, structure: Structure): Block[] {
  const blocks: Block[] = [
    tail(1, log.lineCount, 30, 14, 'end of the log'),
    tail(1, log.lineCount, log.lineCount <= SHORT_LOG ? SHORT_LOG : 200, 4, 'end of the log'),
  ];
  for (const { lineStart, lineEnd, consequence } of structure.failedSections) {
    if (consequence === true) continue;
    const lastLine = findLastOutput(log, lineStart, lineEnd);
    blocks.push(tail(lineStart, lastLine, 5, 54, 'end of the failed step'));
    blocks.push(tail(lineStart, lastLine, 15, 48, 'end of the failed step'));
    blocks.push(tail(lineStart, lastLine, 80, 24, 'end of the failed step'));
    blocks.push(tail(Math.max(lineStart, lastLine), lineEnd, 8, 30, 'end of the failed step'));
    blocks.push({ start: lineStart, end: lineStart, weight: 46, reason: 'start of the failed step' });
    for (const { start, end } of findCommandLines(log, lineStart, lineEnd))
      blocks.push({ start, end, weight: COMMAND, reason: 'command of the failed step' });
  }
  return blocks;
}

/** Returns the last informative line of a step, before the closing messages of tools. */
function findLastOutput(log: LogText, start: number, end: number): number {
  let line = end;
  while (line > Math.max(start, end - 60) && isUninformative(log.line(line))) line--;
  return line;
}

function tail(start: number, end: number, lines: number, weight: number, reason: string): Block {
  return { start: Math.max(start, end - lines), end, weight, reason, fromEnd: true };
}

/** One log with its weighed blocks. */
export interface WeighedLog {
  readonly log: LogText;
  readonly blocks: readonly Block[];
}

interface Candidate extends Block {
  readonly log: LogText;
  /** The tokens of each line of the log, counted when they are first needed. */
  readonly costs: Map<number, number>;
}

type Picked = Pick<Block, 'reason' | 'weight'>;

/**
 * The share of the budget that is used. The rest is a margin, because joined lines may have slightly more
 * tokens.
 */
const RESERVE = 0.98;
const MAX_TRIES = 5_000;
/**
 * The remaining share of the budget, and the number of consecutive blocks that added nothing, at which
 * selection stops.
 */
const NEARLY_FULL = 0.03;
const MAX_REFUSED = 100;
/**
 * The maximum number of blocks, heaviest first, that are tried again with the expensive lines that were left
 * out at first.
 */
const MAX_SECOND = 60;

/**
 * Fills the token budget with the heaviest blocks and returns excerpts in the order of the logs, with their
 * number of tokens. Tokens are counted for the text of a line, without time stamps, columns and escapes.
 */
export function reduceLogs(logs: readonly WeighedLog[], budgetTokens: number): ReturnType<typeof settle> {
  const picked = new Map<LogText, Map<number, Picked>>(logs.map(({ log }) => [log, new Map()]));
  let room = Math.floor(budgetTokens * RESERVE);
  const candidates = logs.flatMap(({ log, blocks }) => {
    const costs = new Map<number, number>();
    return blocks.map((block): Candidate => ({ ...block, log, costs }));
  });
  candidates.sort((a, b) => b.weight - a.weight || b.end - a.end);
  let refused = 0;
  for (const block of candidates.slice(0, MAX_TRIES)) {
    if (room <= 0 || (refused > MAX_REFUSED && room < budgetTokens * NEARLY_FULL)) break;
    const lines = picked.get(block.log);
    const cost = lines === undefined ? 0 : pick(block, lines, room, budgetTokens);
    refused = cost > 0 ? 0 : refused + 1;
    room -= cost;
  }
  for (const block of candidates.slice(0, MAX_SECOND)) {
    const lines = picked.get(block.log);
    if (lines !== undefined) room -= pick(block, lines, room, Number.POSITIVE_INFINITY);
  }
  return settle(
    logs.flatMap(({ log }) => createExcerpts(log, picked.get(log) ?? new Map())),
    budgetTokens,
  );
}

/** The maximum number of characters of a line in an excerpt. */
const MAX_LINE = 1_000;
/** The share of the budget above which a line is left out of blocks of several lines. */
const MAX_LINE_SHARE = 0.2;

function pick(block: Candidate, lines: Map<number, Picked>, room: number, budget: number): number {
  const wanted: number[] = [];
  let cost = 0;
  const count = block.end - block.start + 1;
  for (let i = 0; i < count; i++) {
    const line = block.fromEnd === true ? block.end - i : block.start + i;
    if (lines.has(line) || block.log.hides?.(line) === true) continue;
    const tokens = block.costs.get(line) ?? countShownTokens(`${trimStoredLine(block.log.raw(line))}\n`);
    block.costs.set(line, tokens);
    if (count > 1 && tokens > budget * MAX_LINE_SHARE) continue;
    if (cost + tokens > room) break;
    cost += tokens;
    wanted.push(line);
  }
  for (const line of wanted) lines.set(line, { reason: block.reason, weight: block.weight });
  return cost;
}

function createExcerpts(log: LogText, picked: ReadonlyMap<number, Picked>): Excerpt[] {
  const excerpts: Excerpt[] = [];
  const numbers = [...picked.keys()].sort((a, b) => a - b);
  for (let i = 0; i < numbers.length; ) {
    let j = i;
    while ((numbers[j + 1] ?? -1) === (numbers[j] ?? 0) + 1) j++;
    excerpts.push(createExcerpt(log, numbers.slice(i, j + 1), picked));
    i = j + 1;
  }
  return excerpts;
}

function createExcerpt(log: LogText, lines: readonly number[], picked: ReadonlyMap<number, Picked>): Excerpt {
  let best: Picked = { reason: '', weight: -1 };
  for (const line of lines) {
    const here = picked.get(line);
    if (here !== undefined && here.weight > best.weight) best = here;
  }
  const text = lines.map((line) => trimStoredLine(log.raw(line))).join('\n');
  return { source: log.name, lineStart: lines[0] ?? 1, lineEnd: lines.at(-1) ?? 1, text, ...best };
}

/** Returns the part of a stored line that an excerpt contains. */
export function trimStoredLine(raw: string): string {
  return stripPrefixes(raw).slice(0, MAX_LINE);
}

function countShownTokens(text: string): number {
  return countTokens(stripEscapes(text));
}

function settle(excerpts: readonly Excerpt[], budgetTokens: number) {
  const counted = excerpts.map((excerpt) => ({ excerpt, tokens: countShownTokens(excerpt.text) }));
  let tokens = counted.reduce((sum, entry) => sum + entry.tokens, 0);
  while (tokens > budgetTokens && counted.length > 0) {
    const lightest = counted.reduce(
      (least, entry, i) => (entry.excerpt.weight < (counted[least]?.excerpt.weight ?? 0) ? i : least),
      0,
    );
    tokens -= counted[lightest]?.tokens ?? 0;
    counted.splice(lightest, 1);
  }
  return { excerpts: counted.map(({ excerpt }) => excerpt), tokens };
}
