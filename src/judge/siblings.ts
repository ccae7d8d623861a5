import { complains } from './described-fact.ts';
import type { Fact, Facts } from './facts.ts';
import { readBlock, type ShownLine } from './failure-block.ts';
import type { Filled, Value } from './sentence.ts';
import { joinWords } from './wording.ts';

/** The maximum number of names in one sentence. */
const MOST = 6;
/** The minimum number of words of a line. Shorter lines are alike by chance. */
const FEWEST_WORDS = 3;
/** A name of a package, file, variable, image or the like, without quotes. */
const NAME = /^(?=.*[A-Za-z])[\w@./:+-]{2,120}$/;

/**
 * Lists the names for which the step prints the same line as for the name in the cause: other packages that a
 * lock file lacks, other variables that are not set. Returns null if there are none.
 */
export function listSiblings(
  cause: string,
  fact: Fact | null,
  used: readonly Value[],
  facts: Facts,
): Filled | null {
  if (fact === null) return null;
  const { step } = readBlock(fact, facts);
  const lines = new Set([fact.line, ...used.map(({ line }) => line)]);
  const values = step
    .filter(({ line, text }) => lines.has(line) && complains(text))
    .flatMap((shownLine) => step.flatMap((other) => readSibling(shownLine, other, cause) ?? []))
    .filter(({ text }) => !cause.includes(text));
  const names = [...new Set(values.map(({ text }) => text))];
  return names.length === 0
    ? null
    : { text: `The same error is reported for ${joinWords(names, MOST)}.`, values: values.slice(0, MOST) };
}

/**
 * Reads the name in a line that differs from another line only in that name. Returns null if several words
 * differ, if it is not a name, or if the cause is not about the corresponding name.
 */
function readSibling(shownLine: ShownLine, other: ShownLine, cause: string): Value | null {
  if (shownLine.source !== other.source || shownLine.line === other.line) return null;
  const [words, others] = [shownLine, other].map(({ text }) => text.trim().split(/\s+/)) as [
    string[],
    string[],
  ];
  if (words.length !== others.length || words.length < FEWEST_WORDS) return null;
  const places = others.flatMap((word, at) => (word === words[at] ? [] : [at]));
  const [word, value] = [others, words].map((all) => all[places[0] ?? 0] ?? '') as [string, string];
  const [name, ownName] = [word, value].map((text) => text.replace(/^["'`(“‘]+|["'`).,;:”’]+$/g, '')) as [
    string,
    string,
  ];
  if (places.length !== 1 || word.endsWith(':') || !NAME.test(name) || !cause.includes(ownName)) return null;
  return { text: name, source: other.source, line: other.line, near: 'step' };
}
