import type { ErrorMessage } from '../../domain/failure.ts';
import { findFirstPlace, takeFirstOfEach } from '../../lib/collections.ts';
import type { Block } from '../extract/extraction.ts';
import type { GreenDiff } from '../green/green-diff.ts';
import type { LineRole } from '../line-roles.ts';
import { type ReadLog, readCandidates } from './features.ts';
import { MAY_PROVE, rankModel, scoreCandidates } from './model.ts';

/** A line of a log and how informative the learned ranking considers it. */
export interface RankedLine {
  readonly line: number;
  readonly text: string;
  readonly role: LineRole;
  /** The log-odds that it is worth keeping. Only the order within one log is meaningful. */
  readonly score: number;
  /** The log-odds that it proves the cause. */
  readonly proof: number;
}

/** The penalty, in log-odds, of a line that a passed build also has. */
const KNOWN_PENALTY = -4;

/**
 * Returns the candidate lines of one log with their scores, in the order of the log. `weighed` are the blocks
 * that {@link weighBlocks} returns.
 */
export function rankLines(read: ReadLog, weighed: readonly Block[], green: GreenDiff | null): RankedLine[] {
  const candidates = readCandidates(read, weighed);
  const { keeping, proving } = scoreCandidates(rankModel(), candidates);
  return candidates.lines.map((line, i) => {
    const loss = green === null || green.isEvidence(line.line) ? 0 : KNOWN_PENALTY;
    return { ...line, score: (keeping[i] ?? 0) + loss, proof: (proving[i] ?? 0) + loss };
  });
}

/** The maximum number of lines of one log that become messages. */
const MAX_MESSAGES = 50;
/** The weight of general error phrases such as "error: …". */
const PLAIN_ERROR = 48;
/** The share of the learned order in a line's rank. The rest is the share of the readers' order. */
const LEARNED = 0.6;
/**
 * The cost of each doubling of the rank, the cost of each doubling of the length, and the unit of length in
 * characters: long lines use more of the token budget.
 */
const [PER_DOUBLING, PER_LENGTH, PIECE] = [5, 2.5, 40];
/** The share of the difference to its better neighbor by which a line's weight is raised. */
const TOGETHER = 0.5;
/** The maximum number of lines of one block that get its weight. */
const MAX_BLOCK = 2_000;

/**
 * Returns one block for each ranked line. Its weight depends on its rank in the learned order and in the
 * order of the readers' weights, and falls by a fixed amount with each doubling of the rank and of the
 * length.
 */
export function placeRanked(ranked: readonly RankedLine[], placed: readonly Block[]): Block[] {
  const heaviest = getHeaviestBlocks(ranked, placed);
  const byReaders = computeLogRanks(ranked, (_, i) => heaviest[i]?.weight ?? -100);
  const byModel = computeLogRanks(ranked, ({ score }) => score);
  const weights = ranked.map(({ text }, i) => {
    const place = LEARNED * (byModel[i] ?? 0) + (1 - LEARNED) * (byReaders[i] ?? 0);
    return 100 - PER_DOUBLING * place - PER_LENGTH * Math.log2(1 + text.length / PIECE);
  });
  return ranked.map(({ line }, i): Block => {
    const lineWeight = weights[i] ?? 0;
    const getNeighbor = (j: number) =>
      Math.abs((ranked[j]?.line ?? -9) - line) === 1 ? (weights[j] ?? 0) : lineWeight;
    const weight =
      lineWeight + TOGETHER * Math.max(0, getNeighbor(i - 1) - lineWeight, getNeighbor(i + 1) - lineWeight);
    return { start: line, end: line, weight, reason: heaviest[i]?.reason ?? 'telling line' };
  });
}

/** Returns the binary logarithm of each line's rank, 0 for the first. */
function computeLogRanks(
  ranked: readonly RankedLine[],
  measure: (rankedLine: RankedLine, i: number) => number,
): number[] {
  const values = ranked.map(measure);
  const order = [...ranked.keys()].sort(
    (a, b) => (values[b] ?? 0) - (values[a] ?? 0) || (ranked[b]?.line ?? 0) - (ranked[a]?.line ?? 0),
  );
  const places = new Array<number>(ranked.length).fill(0);
  for (const [rank, i] of order.entries()) places[i] = Math.log2(1 + rank);
  return places;
}

/** Returns the heaviest block on each line. */
function getHeaviestBlocks(ranked: readonly RankedLine[], placed: readonly Block[]): Block[] {
  const blocks: Block[] = [];
  for (const block of placed.toSorted((a, b) => b.weight - a.weight)) {
    const last = Math.min(block.end, block.start + MAX_BLOCK);
    let at = findFirstPlace(ranked.length, (place) => (ranked[place]?.line ?? 0) < block.start);
    for (; (ranked[at]?.line ?? last + 1) <= last; at++) blocks[at] ??= block;
  }
  return blocks;
}

/**
 * Moves the next line to the front if the first one only introduces it ("Error in module x:") and the next
 * one may be a cause, too.
 */
function moveInnerFirst(chosen: readonly RankedLine[]): readonly RankedLine[] {
  const [first, ...others] = chosen;
  if (first === undefined || !/[^\s:]:\s{0,3}$/.test(first.text)) return chosen;
  const next = others.find(({ line }) => line === first.line + 1);
  return next === undefined
    ? chosen
    : [{ ...next, proof: first.proof }, first, ...others.filter((other) => other !== next)];
}

/**
 * Returns the most informative messages, weighted by their odds relative to the best one (0..100). Includes
 * wrappers only if there is nothing else. If the log does not show that anything failed, includes only lines
 * that a reader reported as an error.
 */
export function rankMessages(
  { log, found, structure }: Omit<ReadLog, 'hits'>,
  ranked: readonly RankedLine[],
): ErrorMessage[] {
  const hasFailed = structure.failedSections.length > 0 || structure.exits.length > 0;
  // If the log marks steps but none as failed, only a message with the weight of an error phrase shows that
  // something failed.
  const least = hasFailed || !structure.hasSteps ? 0 : PLAIN_ERROR;
  const byWeight = found.messages.filter(({ weight }) => weight >= least).sort((a, b) => a.weight - b.weight);
  const texts = new Map(byWeight.map((message) => [message.at?.line, message.text]));
  const candidates = ranked.filter(({ line, role }) => MAY_PROVE.has(role) && (hasFailed || texts.has(line)));
  const free = candidates.filter(({ role }) => role !== 'wrapper');
  const causes = free.length > 0 ? free : candidates;
  const isFailed = (line: number) =>
    structure.failedSections.some(({ lineStart, lineEnd }) => line >= lineStart && line <= lineEnd);
  const inside = causes.filter(({ line }) => isFailed(line));
  const byProof = (inside.length > 0 ? inside : causes).sort((a, b) => b.proof - a.proof);
  const chosen = takeFirstOfEach(byProof, ({ text }) => text).slice(0, MAX_MESSAGES);
  const best = chosen[0]?.proof ?? 0;
  return moveInnerFirst(chosen).map(({ line, text, proof }) => ({
    text: (texts.get(line) ?? text.trim()).slice(0, 500),
    at: { source: log.name, line },
    weight: Math.round(1_000 * Math.exp(Math.max(-6, (proof - best) / 2))) / 10,
  }));
}
