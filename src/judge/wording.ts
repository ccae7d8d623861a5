import type { Facts } from './facts.ts';
import type { Match } from './rule.ts';

/** What the wording of an answer draws on: the deciding fact's words, and everything that was read from the log around it. */
export interface Wording {
  readonly said: string;
  readonly log: string;
  readonly facts: Facts;
}

const MOST = 200_000;

/** The words of a match and of the log it was met in. */
export function toldBy(match: Match, facts: Facts): Wording {
  const log = `${facts.all.map((fact) => fact.text).join('\n')}\n${facts.shown}`;
  return { said: match.fact.text, log: log.slice(0, MOST), facts };
}

/** The first group of the first pattern that is met in what was said, else in the log; null where none is. */
export function find({ said, log }: Wording, ...patterns: readonly RegExp[]): string | null {
  for (const text of [said, log]) {
    for (const pattern of patterns) {
      const word = pattern
        .exec(text)
        ?.slice(1)
        .find((group) => group !== undefined);
      if (word !== undefined) return word.trim();
    }
  }
  return null;
}

/** On one line, without the punctuation at its end, and at most so long; cut between words where that is possible. */
export function oneLine(text: string, most: number): string {
  const line = text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.:;,]+$/, '');
  if (line.length <= most) return line;
  const cut = line.slice(0, most - 1);
  const space = cut.lastIndexOf(' ');
  return `${(space > most * 0.6 ? cut.slice(0, space) : cut).trimEnd()}…`;
}

/** "a", "a and b", "a, b and 3 more". */
export function listed(words: readonly string[], most = 3): string {
  if (words.length <= 1) return words[0] ?? '';
  if (words.length <= most) return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
  return `${words.slice(0, most - 1).join(', ')} and ${words.length - most + 1} more`;
}

const STEM = 6;

/** The words of names in camel, snake or kebab case, lower-cased and cut to their stem, without those that say nothing. */
export function wordsIn(names: string): ReadonlySet<string> {
  const words = names.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? [];
  return new Set(words.map((word) => word.toLowerCase().slice(0, STEM)).filter((word) => word.length > 2 && !EMPTY.has(word)));
}

/** The share of a file name's words that stand among the given words: 0..1. */
export function likeness(path: string, words: ReadonlySet<string>): number {
  const own = wordsIn((path.split(/[\\/]/).at(-1) ?? '').replace(/\.\w{1,8}$/, ''));
  return own.size === 0 ? 0 : [...own].filter((word) => words.has(word)).length / own.size;
}

const EMPTY: ReadonlySet<string> = new Set(['test', 'tests', 'should', 'with', 'and', 'the', 'java', 'for', 'from', 'not', 'get', 'set']);
