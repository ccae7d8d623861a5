import { listNamedPaths } from '../../lib/text.ts';

const FENCE = /^```/;
/** The beginning of a diff without a code fence. Such a diff extends to the end of the advice. */
const DIFF = /^(?:diff --git |--- (?:a\/|\/dev\/null))/;
/**
 * Versions with three numbers. Shorter ones, such as "2" and "3.1", occur in so many texts that they prove
 * nothing.
 */
const VERSION = /(?<![\w.-])v?(\d{1,5}\.\d{1,5}\.\d{1,5}(?:[-+.][\w.]{1,30})?)(?![\w])/g;
/** A command in code marks: a program and at least one argument. */
const COMMAND = /`(?:\$ |sudo )?([a-z][\w.+-]{1,40}) [^`\n]{1,300}`/g;
const CREATES = /\b(?:creat|add|new|writ|commit|generat|introduc)\w{0,6}\b/i;

/**
 * Removes unfounded parts of a model's advice. Removes sentences and diffs that mention a file, a full
 * version or a program that does not occur in `seen`, which holds the log, the code and the pages that were
 * read. Also removes diffs from which an address was removed, because they cannot be applied.
 */
export function keepFoundedAdvice(advice: string, seen: string): string {
  const parts = splitAdvice(advice);
  const kept = parts.filter((part) =>
    part.isCode ? isWholeDiff(part.text, seen) : isFounded(part.text, seen),
  );
  return kept
    .map(({ text }) => text)
    .join('')
    .trim();
}

interface Part {
  readonly text: string;
  readonly isCode: boolean;
}

/**
 * Splits the advice into fenced blocks, and into sentences outside of them. Joining the parts restores the
 * advice.
 */
function splitAdvice(advice: string): Part[] {
  const parts: Part[] = [];
  let fenced: string | null = null;
  for (const line of advice.split(/(?<=\n)/)) {
    const isFence = FENCE.test(line.trimStart());
    if (fenced !== null) {
      fenced += line;
      if (isFence && FENCE.test(fenced)) {
        parts.push({ text: fenced, isCode: true });
        fenced = null;
      }
    } else if (isFence || DIFF.test(line)) fenced = line;
    else for (const sentence of splitSentences(line)) parts.push(sentence);
  }
  return fenced === null ? parts : [...parts, { text: fenced, isCode: true }];
}

function splitSentences(line: string): Part[] {
  const sentences = line.split(/(?<=[.!?]\s)(?=[A-Z`"“(])/);
  return sentences.map((text) => ({ text, isCode: false }));
}

function isFounded(sentence: string, seen: string): boolean {
  const versions = Array.from(sentence.matchAll(VERSION), ([, version]) => version ?? '');
  const programs = Array.from(sentence.matchAll(COMMAND), ([, program]) => program ?? '');
  const paths = CREATES.test(sentence) ? [] : listNamedPaths([sentence]).map(({ path }) => path);
  return (
    [...versions, ...programs].every((word) => seen.includes(word)) &&
    paths.every((path) => isSeenPath(path, seen))
  );
}

/**
 * Tells whether `seen` contains the path or its end, because tools may print paths relative to other folders.
 */
function isSeenPath(path: string, seen: string): boolean {
  const parts = path.replace(/^(?:\.{1,2}\/|\/){1,8}/, '').split('/');
  return (
    seen.includes(parts.slice(-2).join('/')) || (parts.length > 1 && seen.includes(parts.at(-1) ?? path))
  );
}

/**
 * Tells whether a code block can be used: no address was removed from it, and a diff changes only files that
 * were seen.
 */
function isWholeDiff(block: string, seen: string): boolean {
  if (block.includes('[address left out]')) return false;
  const changed = Array.from(block.matchAll(/^--- (?:a\/)?(\S{1,300})/gm), ([, path]) => path ?? '').filter(
    (path) => path !== '/dev/null',
  );
  return changed.every((path) => isSeenPath(path, seen));
}
