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
