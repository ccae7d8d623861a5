import type { Block, Extraction } from '../extract/extraction.ts';
import type { GreenDiff } from '../green/green-diff.ts';
import type { LogText } from '../lines/lines.ts';
import type { LineRole } from '../roles.ts';
import type { Structure } from '../sections.ts';
import { candidateLines, readCandidates } from './features.ts';
import { rankModel, scoreCandidates } from './model.ts';

/** A line of a log and how telling the learned ranking takes it to be. */
export interface RankedLine {
  readonly line: number;
  readonly text: string;
  readonly role: LineRole;
  /** Log-odds that it is worth keeping; only the order of one log's lines means something. */
  readonly score: number;
  /** Log-odds that it proves the cause. */
  readonly proof: number;
}

/** What a line loses that a green build says too. */
const KNOWN = -4;

/** The candidate lines of one log with their scores, in the order of the log. `weighed` are the blocks of {@link weighBlocks}. */
export function rankLines(
  log: LogText,
  hits: readonly (readonly number[])[],
  found: Extraction,
  structure: Structure,
  weighed: readonly Block[],
  green: GreenDiff | null,
): RankedLine[] {
  const candidates = readCandidates(log, candidateLines(log, hits, weighed, structure), found, structure, weighed);
  const { keeping, proving } = scoreCandidates(rankModel(), candidates);
  const known = (line: number) => (green === null || green.isEvidence(line) ? 0 : KNOWN);
  return candidates.lines.map((one, i) => ({
    ...one,
    score: (keeping[i] ?? 0) + known(one.line),
    proof: (proving[i] ?? 0) + known(one.line),
  }));
}
