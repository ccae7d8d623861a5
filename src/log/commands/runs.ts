import type { LineRange } from '../sections/system.ts';
import type { Scores } from './borders.ts';

/** The output of one command: its first line, and the command's index. */
export interface Run {
  readonly command: number;
  readonly start: number;
}

interface Way {
  readonly score: number;
  readonly runs: readonly Run[];
}

/**
 * Chooses where the output of each command begins, so that the sum of the border scores and of the mentions
 * of each command's own words is greatest. Commands keep their order; commands without a complaint get no
 * output of their own.
 */
export function chooseRuns(
  { start, end }: LineRange,
  complaints: readonly number[],
  borders: Scores,
  words: readonly (readonly number[])[],
): Run[] {
  const gained = (command: number, line: number) => words[command]?.[line - start] ?? 0;
  const isComplaint = new Set(complaints);
  /**
   * The best choice that ends in each command's output at the current line. Its score does not yet count the
   * mentions of that last command's words.
   */
  const begun = words.map((_, command): Way | null => ({ score: 0, runs: [{ command, start }] }));
  /** The same, but with a complaint in the last command's output. */
  const complained = words.map((): Way | null => null);
  for (let line = start; line <= end; line++) {
    const border = line === start ? undefined : borders.get(line);
    for (const command of border === undefined ? [] : words.keys()) {
      for (const [before, way] of complained.slice(0, command).entries()) {
        if (way === null) continue;
        const score = way.score + gained(before, line - 1) - gained(command, line - 1) + (border ?? 0);
        const next = { score, runs: [...way.runs, { command, start: line }] };
        if (isBetter(next, begun[command])) begun[command] = next;
      }
    }
    if (!isComplaint.has(line)) continue;
    for (const [command, way] of begun.entries())
      if (isBetter(way, complained[command])) complained[command] = way;
  }
  let best: Way | null = null;
  for (const [command, way] of complained.entries()) {
    const whole = way === null ? null : { ...way, score: way.score + gained(command, end) };
    if (isBetter(whole, best)) best = whole;
  }
  return best === null ? [] : [...best.runs];
}

function isBetter(left: Way | null, right: Way | null | undefined): left is Way {
  return left !== null && (right == null || left.score > right.score);
}
