import type { Templates } from '../../domain/build.ts';
import { normalizeIdentity } from '../fingerprint/normalize.ts';
import { openText } from '../lines/lines.ts';

export { Templates } from '../../domain/build.ts';

interface Tree {
  readonly exact: Set<string>;
  /** The templates as lists of words, by their path in the tree. */
  readonly leaves: Map<string, string[][]>;
}

const VERSION = 1;
/** The limits on the number of templates, and on the number of their characters. */
const LIMITS = { templates: 10_000, characters: 1_000_000 };
const ANY = '<*>';
/** The length from which a line is compared only by its first and last characters. */
const HEAD = 400;
const TAIL = 200;
/** The number of words in the path to a leaf, after the number of words. */
const DEPTH = 2;
/**
 * The share of equal words at which two lines have the same template. Drain uses 0.4 to 0.6; the high end is
 * chosen because a wrong match hides a failure.
 */
const SIMILAR = 0.6;
/** The maximum number of lines that are remembered, so that a repeated line is not compared again. */
const MAX_SEEN = 50_000;
/** The number of lines between two pauses. */
const TURN = 2_000;
/**
 * The maximum number of templates that are compared in one leaf. It keeps the time linear in the number of
 * lines.
 */
const MAX_GROUPS = 60;

/** Lines that report errors, and stack frames. They only match an equal line. */
const COMPLAINS = new RegExp(
  "err(?:or|no|!)|fail|fatal|exception|panic|abort|denied|refus|reject|cannot|can't|" +
    "could ?n[o']t|unable|not (?:found|ok)|no such|missing|undefined|unresolved|unknown|" +
    'time(?:d )?-?out|kill|seg(?:v|mentation)|traceback|assert|invalid|illegal|' +
    '(?:un)?expected|mismatch|conflict|crash|corrupt|violat|caused by|' +
    String.raw`exit|status|[✗✕✘×●✖]|^\s*at\s|^\s*File "`,
  'i',
);

/**
 * A token that is the same in every run: only letters, or only punctuation. Any other token may be a name, a
 * number or a place.
 */
const FIXED_WORD = /^(?:["'([]{0,2}(?:[A-Za-z][a-z]*|[A-Z]+)["')\],:;.!?]{0,3}|[^A-Za-z0-9<]*)$/;

/** Counts of zero. "0 failed" must not match "3 failed", although both have a number. */
const NONE = new RegExp(
  String.raw`\b0(?= (?:fail|error|broken|problem|crash))|(?<=\b(?:fail\w{0,10}|errors?|` +
    String.raw`broken|problems?|crash\w{0,6})[^\d,;]{1,20})0\b(?![.\d])`,
  'gi',
);

/**
 * Extracts the templates of a green log (P. He et al. 2017, "Drain: An Online Log Parsing Approach with Fixed
 * Depth Tree"), with two restrictions: lines that report errors are kept unchanged, and only words that look
 * like a name, number or place become `<*>`. Templates are in the order of their first line; those over the
 * limits are left out. Deterministic, linear in the length of the text.
 */
export function extractTemplates(text: string, limits: Partial<typeof LIMITS> = {}): Templates {
  const work = runTemplating(text, limits);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Extracts the templates a few thousand lines at a time, and awaits `pause` in between so that a large log
 * does not block other work.
 */
export async function extractTemplatesInSteps(text: string, pause: () => Promise<void>): Promise<Templates> {
  const work = runTemplating(text, {});
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await pause();
  }
}

function* runTemplating(text: string, limits: Partial<typeof LIMITS>): Generator<void, Templates> {
  const { templates, characters } = { ...LIMITS, ...limits };
  const tree: Tree = { exact: new Set(), leaves: new Map() };
  const found: string[][] = [];
  const seen = new Set<string>();
  let room = characters;
  const log = openText(text);
  for (let number = 1; number <= log.lineCount; number++) {
    if (number % TURN === 0) yield;
    const text = log.line(number);
    if (seen.has(text)) continue;
    if (seen.size < MAX_SEEN) seen.add(text);
    const line = toLineShape(text);
    if (line === '' || tree.exact.has(line) || absorbs(tree, line)) continue;
    if (found.length >= templates || room < line.length) continue;
    room -= line.length;
    found.push(remember(tree, line));
  }
  return { version: VERSION, lines: [...new Set(found.map((words) => words.join(' ')))] };
}

/**
 * Checks whether a clean line (see `LogText.line`) matches a template of any of several green builds. An
 * empty line is always known.
 */
export function knowsAny(several: readonly Templates[], line: string): boolean {
  const shape = toLineShape(line);
  if (shape === '') return true;
  const trees = several.map(getTree);
  if (trees.some(({ exact }) => exact.has(shape))) return true;
  if (COMPLAINS.test(shape)) return false;
  const words = shape.split(' ');
  const leaf = toLeafKey(words);
  return trees.some(({ leaves }) => leaves.get(leaf)?.some((group) => matches(group, words)) === true);
}

const trees = new WeakMap<Templates, Tree>();

function getTree(templates: Templates): Tree {
  const built = trees.get(templates);
  if (built !== undefined) return built;
  const tree: Tree = { exact: new Set(), leaves: new Map() };
  for (const line of templates.lines) remember(tree, line);
  trees.set(templates, tree);
  return tree;
}

function remember(tree: Tree, line: string): string[] {
  const group = line.split(' ');
  tree.exact.add(line);
  if (COMPLAINS.test(line)) return group;
  const key = toLeafKey(group);
  const leaf = tree.leaves.get(key);
  if (leaf === undefined) tree.leaves.set(key, [group]);
  else if (leaf.length < MAX_GROUPS) leaf.push(group);
  return group;
}

/** Adds a line to the most similar template if one is similar enough. Returns whether it was added. */
function absorbs(tree: Tree, line: string): boolean {
  if (COMPLAINS.test(line)) return false;
  const words = line.split(' ');
  const group = findMostSimilar(tree.leaves.get(toLeafKey(words)) ?? [], words);
  if (group === undefined) return false;
  for (let i = 0; i < words.length; i++) if (group[i] !== words[i]) group[i] = ANY;
  return true;
}

function matches(group: readonly string[], words: readonly string[]): boolean {
  return words.every((word, i) => group[i] === word || (group[i] === ANY && !FIXED_WORD.test(word)));
}

function findMostSimilar(leaf: readonly string[][], words: readonly string[]): string[] | undefined {
  let best: string[] | undefined;
  let most = SIMILAR * words.length;
  for (const group of leaf) {
    const equal = countEqualWords(group, words);
    if (equal < most || (equal === most && best !== undefined)) continue;
    best = group;
    most = equal;
  }
  return best;
}

/** Counts the equal words at the same places. Returns -1 if words differ that must be equal. */
function countEqualWords(template: readonly string[], words: readonly string[]): number {
  let equal = 0;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    if (template[i] === word) equal++;
    else if (FIXED_WORD.test(word) || (template[i] !== ANY && FIXED_WORD.test(template[i] ?? ''))) return -1;
  }
  return equal;
}

function toLeafKey(words: readonly string[]): string {
  let key = `${words.length}`;
  for (const word of words.slice(0, DEPTH)) key += ` ${FIXED_WORD.test(word) ? word : ANY}`;
  return key;
}

/** Characters that normalization may change. A line without any of them is returned unchanged. */
const CHANGES = /[\d/\\]|\*\*\*|<\*>|[^\S ]| {2}/;

/**
 * Replaces the parts of a line that change from run to run. A literal `<*>` in the log does not become a
 * wildcard.
 */
function toLineShape(line: string): string {
  // A cut may split a surrogate pair, and a lone surrogate cannot be stored.
  const cut =
    line.length <= HEAD + TAIL ? line : `${line.slice(0, HEAD)}…${line.slice(-TAIL)}`.toWellFormed();
  if (!CHANGES.test(cut)) return cut.trim();
  const safe = cut.includes(ANY) ? cut.replaceAll(ANY, '<**>') : cut;
  return normalizeIdentity(safe.includes('0') ? safe.replace(NONE, 'none') : safe);
}
