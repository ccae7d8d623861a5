import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A small invented log of a kind that used to get misleading advice, with the words that show whether the
 * advice misleads.
 */
export interface MisleadingKind {
  readonly group: string;
  readonly name: string;
  /** The log as a CI system prints it: the command of the step, its output, and its end. */
  readonly log: string;
  /** The words that no advice on it may contain. */
  readonly forbidden: readonly string[];
  /** The words of which the advice must contain one. Empty if the advice may be silent. */
  readonly needed: readonly string[];
}

/** The files in test/fixtures/advice. Each has the kinds of one group. */
const GROUPS = ['wrong file', 'other family', 'noise', 'scrap', 'impossible', 'false modesty'] as const;

/**
 * The kinds of all groups. In a file, `=== name` begins a kind. `run:` is its command, `not:` has the
 * forbidden words, and `says:` the needed ones, separated by ` | `. Everything that follows is the output.
 */
export const MISLEADING_KINDS: readonly MisleadingKind[] = GROUPS.flatMap(readGroup);

function readGroup(group: string): MisleadingKind[] {
  const path = join(import.meta.dirname, '../../fixtures/advice', `${group.replaceAll(' ', '-')}.txt`);
  return readFileSync(path, 'utf8')
    .split(/^=== /m)
    .slice(1)
    .map((block) => parseKind(group, block));
}

function parseKind(group: string, block: string): MisleadingKind {
  const [name = '', ...lines] = block.trimEnd().split('\n');
  const field = (key: string) =>
    lines.find((line) => line.startsWith(`${key}: `))?.slice(key.length + 2) ?? '';
  const words = (key: string) => field(key).split(' | ').filter(Boolean);
  const output = lines.filter((line) => !/^(?:run|not|says): /.test(line));
  const run = field('run');
  const log = [
    `##[group]Run ${run}`,
    run,
    '##[endgroup]',
    ...output,
    '##[error]Process completed with exit code 1.',
    '',
  ].join('\n');
  return { group, name, log, forbidden: words('not'), needed: words('says') };
}
