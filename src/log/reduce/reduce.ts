import type { Excerpt } from '../../domain/failure.ts';
import type { Block } from '../extract/extraction.ts';
import { ownWords, stripEscapes } from '../lines/clean.ts';
import type { LogText } from '../lines/lines.ts';
import { countTokens } from './tokens.ts';

/** One log with the blocks its readers proposed. */
export interface WeighedLog {
  readonly log: LogText;
  readonly blocks: readonly Block[];
}

/** Excerpts within the budget, and their tokens. */
export interface Reduced {
  readonly excerpts: readonly Excerpt[];
  readonly tokens: number;
}

interface Candidate extends Block {
  readonly log: LogText;
  /** Tokens of the log's lines, where counted. */
  readonly costs: Map<number, number>;
}

interface Picked {
  readonly reason: string;
  readonly weight: number;
}

/** Joining lines may tokenize a little differently than the lines alone; this much is kept back. */
const RESERVE = 0.98;
const MAX_TRIES = 5_000;
/** With this share of the budget left, and so many blocks in a row that added nothing, no more are tried. */
const NEARLY_FULL = 0.03;
const MAX_REFUSED = 100;
/** The heaviest blocks get another chance for the dear lines they were given without. */
const MAX_SECOND = 60;

/**
 * Fills the budget with the heaviest blocks and gives them back in the order of the logs. Counted is what is shown of a line: its own words, without
 * time stamps, columns and escapes.
 */
export function reduceLogs(logs: readonly WeighedLog[], budgetTokens: number): Reduced {
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
    logs.flatMap(({ log }) => excerptsOf(log, picked.get(log) ?? new Map())),
    budgetTokens,
  );
}

/** Characters kept of a line. */
const MAX_LINE = 1_000;
/** A line dearer than this share of the budget is left out of blocks that can do without it. */
const DEAR_LINE = 0.2;

function pick(block: Candidate, lines: Map<number, Picked>, room: number, budget: number): number {
  const wanted: number[] = [];
  let cost = 0;
  const count = block.end - block.start + 1;
  for (let i = 0; i < count; i++) {
    const line = block.fromEnd === true ? block.end - i : block.start + i;
    if (lines.has(line)) continue;
    const tokens = block.costs.get(line) ?? tokensOf(`${keptOf(block.log.raw(line))}\n`);
    block.costs.set(line, tokens);
    if (count > 1 && tokens > budget * DEAR_LINE) continue;
    if (cost + tokens > room) break;
    cost += tokens;
    wanted.push(line);
  }
  for (const line of wanted) lines.set(line, { reason: block.reason, weight: block.weight });
  return cost;
}

function excerptsOf(log: LogText, picked: ReadonlyMap<number, Picked>): Excerpt[] {
  const excerpts: Excerpt[] = [];
  const numbers = [...picked.keys()].sort((a, b) => a - b);
  for (let i = 0; i < numbers.length; ) {
    let j = i;
    while ((numbers[j + 1] ?? -1) === (numbers[j] ?? 0) + 1) j++;
    excerpts.push(excerptOf(log, numbers.slice(i, j + 1), picked));
    i = j + 1;
  }
  return excerpts;
}

function excerptOf(log: LogText, lines: readonly number[], picked: ReadonlyMap<number, Picked>): Excerpt {
  let best: Picked = { reason: '', weight: -1 };
  for (const line of lines) {
    const here = picked.get(line);
    if (here !== undefined && here.weight > best.weight) best = here;
  }
  const text = lines.map((line) => keptOf(log.raw(line))).join('\n');
  return { source: log.name, lineStart: lines[0] ?? 1, lineEnd: lines.at(-1) ?? 1, text, ...best };
}

/** What an excerpt keeps of a stored line. */
export function keptOf(raw: string): string {
  return ownWords(raw).slice(0, MAX_LINE);
}

function tokensOf(text: string): number {
  return countTokens(stripEscapes(text));
}

function settle(excerpts: readonly Excerpt[], budgetTokens: number): Reduced {
  const counted = excerpts.map((excerpt) => ({ excerpt, tokens: tokensOf(excerpt.text) }));
  let tokens = counted.reduce((sum, one) => sum + one.tokens, 0);
  while (tokens > budgetTokens && counted.length > 0) {
    const lightest = counted.reduce((least, one, i) => (one.excerpt.weight < (counted[least]?.excerpt.weight ?? 0) ? i : least), 0);
    tokens -= counted[lightest]?.tokens ?? 0;
    counted.splice(lightest, 1);
  }
  return { excerpts: counted.map(({ excerpt }) => excerpt), tokens };
}
