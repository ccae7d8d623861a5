import { z } from 'zod';
import { Category, Kind } from '../../../src/domain/category.ts';

/** A line of a log, given by words in it, or a range from one such line to another. */
const Quote = z.union([
  z.string().min(1),
  z.strictObject({
    from: z.string().min(1),
    to: z.string().min(1).optional(),
    occurrence: z.enum(['first', 'last']).default('first'),
  }),
]);
export type Quote = z.input<typeof Quote>;

/**
 * The part of a fixture's truth that is written by hand next to its project. `mustCite` quotes the log. Its
 * lines are found when the log is captured.
 */
export const Recipe = z.strictObject({
  title: z.string().min(1),
  category: Category,
  alsoOk: z.array(Category),
  kind: Kind,
  cause: z.string().min(1),
  fix: z.string().min(1),
  failingTests: z.array(
    z.strictObject({ name: z.string(), suite: z.string().optional(), file: z.string().optional() }),
  ),
  mustCite: z.array(Quote).min(1),
  /** The command that prints the version of each tool. It runs in the sandbox after the job. */
  tools: z.record(z.string(), z.string()),
  ci: z.enum(['github', 'jenkins', 'pipeline', 'plain']),
  exitCode: z.int().positive(),
  /** The name of the repository on the runner. */
  project: z.string().regex(/^[a-z][a-z0-9-]*$/),
  /** True to start with empty download caches, so that the log shows every download. */
  cold: z.boolean().default(false),
  /** The pattern of the JUnit XML files that the tool writes, relative to the workspace. */
  report: z.string().optional(),
});
export type Recipe = z.output<typeof Recipe>;

/**
 * Finds the lines of quotations, 1-based and inclusive over `text.split('\n')`. Throws if a quotation is not
 * in the log.
 */
export function listCitedLines(text: string, quotes: readonly Quote[]): Array<[number, number]> {
  const lines = text.split('\n').map(withoutColours);
  return quotes.map((entry) => {
    const {
      from,
      to = undefined,
      occurrence = 'first',
    } = typeof entry === 'string' ? { from: entry } : entry;
    const includesFrom = (line: string) => line.includes(from);
    const start = occurrence === 'last' ? lines.findLastIndex(includesFrom) : lines.findIndex(includesFrom);
    if (start === -1) throw new Error(`mustCite is not in the log: ${from}`);
    const end =
      to === undefined ? start : lines.findIndex((line, index) => index >= start && line.includes(to));
    if (end === -1) throw new Error(`mustCite is not in the log after "${from}": ${to}`);
    return [start + 1, end + 1];
  });
}

function withoutColours(line: string): string {
  return line.replace(/\u001b\[[0-9;]*[A-Za-z]/g, '');
}
