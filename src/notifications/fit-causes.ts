export interface FittedParts<Cause> {
  readonly full: (cause: Cause, index: number) => string;
  readonly line: (cause: Cause, index: number) => string;
  /** Says how many are left out. */
  readonly more: (count: number) => string;
  /** Characters of all together. */
  readonly budget: number;
}

/** Lines take at most so much of it, so that the highest-ranked cause is told whole. */
const FOR_LINES = 0.4;
/** Between two blocks of Markdown, and for the sentence about what is left out. */
const BETWEEN = 2;
const MORE = 200;

/**
 * The ranked causes as blocks that fit the budget: the lowest-ranked shrink to one line first; where even the lines are too many, the last
 * are only counted.
 */
export function fitCauses<Cause>(causes: readonly Cause[], { full, line, more, budget }: FittedParts<Cause>): string[] {
  const lines = causes.map(line);
  let left = budget * FOR_LINES;
  const listed = lines.findIndex((one) => {
    left -= one.length + BETWEEN;
    return left < 0;
  });
  const count = listed < 0 ? causes.length : Math.max(1, listed);
  let spare = budget - MORE - lines.slice(0, count).reduce((total, one) => total + one.length + BETWEEN, 0);
  const blocks: string[] = [];
  let isFull = true;
  for (const [index, cause] of causes.slice(0, count).entries()) {
    const short = lines[index] ?? '';
    const whole: string = isFull ? full(cause, index) : short;
    isFull &&= whole.length - short.length <= spare;
    blocks.push(isFull ? whole : short);
    if (isFull) spare -= whole.length - short.length;
  }
  return count < causes.length ? [...blocks, more(causes.length - count)] : blocks;
}
