import type { LikenessParts } from './likeness.ts';
import { normaliseIdentity } from './normalise.ts';

/** How much each kind of feature counts. A test's name and a whole line say most; a word of the surroundings least. */
const WEIGHTS = { test: 3, testWord: 0.7, message: 2, messageWord: 1, messagePair: 1, frame: 1.5, line: 1, lineWord: 0.3 } as const;
const MAX_LINES = 80;
const MAX_LINE = 300;
const WORD = /<?[\p{L}_][\p{L}\p{N}_-]{1,60}/gu;

/** The features of a failure with their weights, dampened where they repeat (1 + ln n). */
export function likenessFeatures(parts: LikenessParts): Map<string, number> {
  const features = new Map<string, number>();
  const counts = new Map<string, number>();
  const add = (feature: string, weight: number) => {
    const before = counts.get(feature) ?? 0;
    counts.set(feature, before + 1);
    features.set(feature, Math.max(features.get(feature) ?? 0, weight * (1 + Math.log(before + 1))));
  };
  if (parts.test !== null) {
    add(`t ${parts.test.toLowerCase().replace(/\d{5,}/g, '<n>')}`, WEIGHTS.test);
    for (const word of words(parts.test)) add(`tw ${word}`, WEIGHTS.testWord);
  }
  for (const frame of parts.frames) add(`f ${frame}`, WEIGHTS.frame);
  for (const line of linesOf(parts.message ?? '')) {
    add(`l ${line}`, WEIGHTS.message);
    const said = words(line);
    for (const word of said) add(`w ${word}`, WEIGHTS.messageWord);
    for (let at = 1; at < said.length; at++) add(`p ${said[at - 1]} ${said[at]}`, WEIGHTS.messagePair);
  }
  for (const line of parts.lines.slice(0, MAX_LINES).flatMap(linesOf)) {
    add(`l ${line}`, WEIGHTS.line);
    for (const word of words(line)) add(`w ${word}`, WEIGHTS.lineWord);
  }
  return features;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => normaliseIdentity(line.slice(0, MAX_LINE)))
    .filter((line) => /\p{L}{2}/u.test(line));
}

/** Words of a text, in lower case; names made of several words also in their parts. */
function words(text: string): string[] {
  const found: string[] = [];
  for (const [word] of text.matchAll(WORD)) {
    const parts = word.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').split(/[ _-]+/);
    found.push(word.toLowerCase());
    if (parts.length > 1) found.push(...parts.filter((part) => part.length > 1).map((part) => part.toLowerCase()));
  }
  return found;
}
