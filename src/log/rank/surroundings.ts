import type { LineRole } from '../roles.ts';
import type { Structure } from '../sections.ts';

/** A line that may be kept, with what is known of it before its words are weighed. */
export interface Candidate {
  readonly line: number;
  readonly text: string;
  readonly role: LineRole;
}

/** What is measured of a line among those around it: its paragraph, and the other candidates of its step. */
export const SURROUNDINGS = [
  ...(['head', 'headBelow', 'alike', 'alikeAbove', 'alikeBelow', 'paragraphPlace', 'paragraphSize', 'paragraphsAfter'] as const),
  ...(['causesBefore', 'causesAfter', 'severeBefore', 'severeAfter', 'asCommand'] as const),
] as const;

/** One row of {@link SURROUNDINGS} for each candidate. `isSevere` tells of each whether it has a word of failure; counts are binary logarithms. */
export function surroundingsOf(lines: readonly Candidate[], isSevere: readonly boolean[], { failedSections }: Structure): Float32Array {
  const starts = lines.map(({ text }) => /^\s*(\S{1,12})/.exec(text)?.[1]?.replace(/\d+/g, '0') ?? '');
  const alike = new Map<string, number>();
  for (const start of starts) alike.set(start, (alike.get(start) ?? 0) + 1);
  const steps = lines.map(({ line }) => failedSections.findIndex(({ lineStart, lineEnd }) => line >= lineStart && line <= lineEnd));
  const follows = (i: number) => lines[i] !== undefined && lines[i - 1]?.line === lines[i].line - 1;
  const opens = (i: number) => !follows(i) || lines[i - 1]?.role === 'blank';
  const isCause = (i: number) => lines[i]?.role === 'cause';
  const [paragraphs, causes, severe] = [opens, isCause, (i: number) => isCause(i) && isSevere[i] === true].map((is) =>
    sumsOf(lines.length, is),
  );
  const rows = new Float32Array(lines.length * SURROUNDINGS.length);
  let [first, end, opening, size] = [0, 0, 0, 0];
  let commands: ReadonlySet<string> = new Set();
  const before = (sums: Int32Array | undefined, i: number) => log2((sums?.[i] ?? 0) - (sums?.[first] ?? 0));
  const after = (sums: Int32Array | undefined, i: number) => log2((sums?.[end] ?? 0) - (sums?.[i + 1] ?? 0));
  for (const [i, { role, text }] of lines.entries()) {
    if (i === end) {
      first = i;
      while (end < lines.length && steps[end] === steps[first]) end++;
      commands = commandWords(lines.slice(first, end));
    }
    if (opens(i)) for ([opening, size] = [i, 1]; !opens(i + size); ) size++;
    const below = follows(i + 1) && lines[i + 1]?.role !== 'blank' ? headOf(lines[i + 1]?.text ?? '') : -1;
    const [isAbove, isBelow] = [follows(i) && starts[i - 1] === starts[i], follows(i + 1) && starts[i + 1] === starts[i]];
    const said = commands.size === 0 || role === 'echo' ? [] : wordsOf(text).filter((word) => commands.has(word));
    rows.set(
      [
        ...[headOf(text), below, log2(alike.get(starts[i] ?? '') ?? 1), isAbove ? 1 : 0, isBelow ? 1 : 0],
        ...[i - opening, log2(size), after(paragraphs, i), before(causes, i), after(causes, i), before(severe, i), after(severe, i)],
        Math.min(4, said.length),
      ],
      i * SURROUNDINGS.length,
    );
  }
  return rows;
}

/** How many of the lines before each are so, and of all. */
function sumsOf(count: number, is: (i: number) => boolean): Int32Array {
  const sums = new Int32Array(count + 1);
  for (let i = 0; i < count; i++) sums[i + 1] = (sums[i] ?? 0) + (is(i) ? 1 : 0);
  return sums;
}

export function log2(value: number): number {
  return Math.log2(1 + Math.max(0, value));
}

/** Words of the commands and settings that a step shows before it runs: its tools say them too, others seldom. */
function commandWords(lines: readonly Candidate[]): ReadonlySet<string> {
  const words = lines.filter(({ role }) => role === 'echo').flatMap(({ text }) => wordsOf(text));
  return new Set(words.filter((word) => !/^(?:run|bash|usr|bin|group|shell|noprofile|norc|env|endgroup|pipefail)$/.test(word)));
}

function wordsOf(text: string): string[] {
  return (
    text
      .slice(0, 200)
      .toLowerCase()
      .match(/[a-z][a-z0-9]{2,30}/g) ?? []
  );
}

/** What a line begins with: 0 a letter, 1 a digit, 2 a bracket, 3 a list mark, 4 a quotation mark, 5 anything else. */
function headOf(text: string): number {
  const place = [/^\s*[\p{L}_]/u, /^\s*\d/, /^\s*[[({<]/, /^\s*[-*•·–—●○▪]/, /^\s*["'`‘“]/].findIndex((head) => head.test(text));
  return place < 0 ? 5 : place;
}
