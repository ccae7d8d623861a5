import { append, findMax, findMin } from '../../../lib/collections.ts';
import { findBlockEnd, findLineAbove, type LogText, listLinesBetween } from '../../lines/lines.ts';
import type { Extractor } from '../extraction.ts';
import { isTestFile, type KnownTest, openTestList, placeIn, readBlock, TAG, UNKNOWN } from './block.ts';
import {
  DETAIL,
  FILE_HEAD,
  FORMS,
  ITEM,
  isTestTitle,
  LIST,
  LISTED,
  LISTED_FILE,
  LOAD_ERROR,
  LOST_ESCAPES,
  NO_RESULT,
  OTHER_LIST,
  PASSED,
  readTitle,
  TIME,
  TOTALS,
  type Trust,
} from './forms.ts';
import {
  countIndent,
  isAlike,
  isPlace,
  placeAbove,
  splitTestName,
  stripMatches,
  type Words,
  withoutBlanks,
} from './shapes.ts';

const MAX_ITEMS = 2_000;
const MAX_BODY = 40;
/** The end of a line that opens a value. */
const OPEN = /[{[(`]$/;
/** The number of lines around the tests of a runner's own reader in which this reader adds none. */
const NEAR = 300;

interface Item {
  /** The title as it was written. */
  readonly title: string;
  readonly known: KnownTest;
  readonly start: number;
  readonly end: number;
  readonly indent: number;
  readonly trust: Trust;
  readonly framework: string | undefined;
  /** The kind of list that contains it. */
  readonly listed?: 'plain' | 'numbered';
}

/**
 * Failing tests of any runner, recognized by its marks, lists and blocks. Tests that a runner's own reader
 * has reported are not reported again.
 */
export const structural: Extractor = {
  name: UNKNOWN,
  literals: [
    'fail',
    'error',
    '✗ ',
    '✖ ',
    '✕ ',
    '✘ ',
    '× ',
    '⨯ ',
    '● ',
    '• ',
    'not ok ',
    '[E]',
    ' mismatch',
    ') ',
    '==> X ',
    '[-] ',
    ' # ',
    '__ ',
    'TEST-UNEXPECTED-',
    'MethodSource [',
    ' flak',
    'pending',
    'skipped',
    ' killed',
    'segmentation fault',
    ' aborted',
    'panicked at ',
    ' recorded an issue ',
  ],
  extract: (whole, lines, found) => {
    const log = stripMatches(whole, TAG, LOST_ESCAPES);
    const reported = found.failingTests.map((test) => ({
      words: splitTestName(test),
      line: test.at?.line ?? 0,
      framework: test.framework,
    }));
    const index = indexTests(reported);
    const items = removeUnlisted(readItems(log, lines));
    // If marks identify a single runner, unmarked tests are of this runner as well.
    const known = [...new Set(items.flatMap(({ framework }) => framework ?? []))];
    const lists = new Map(
      [...known, UNKNOWN].map((framework) => [framework, openTestList(log, found, framework)]),
    );
    for (const item of withPassages(log, withoutSuites(log, keepUnique(items)))) {
      const framework = item.framework ?? (known.length === 1 ? known[0] : undefined) ?? UNKNOWN;
      const words = splitTestName({ suite: item.known.suite ?? null, name: item.known.name });
      const twin = findTwin(index, words);
      if (twin !== -1) found.addSpan(twin, item.start, item.end);
      if (!isCovered(reported, item, words)) lists.get(framework)?.(item.known, item.start, item.end);
    }
  },
};

interface ReportedTest {
  readonly words: Words;
  readonly line: number;
  readonly framework: string;
}

/**
 * Finds the reported test with the same suite and name, or the only one with the same name. Returns the
 * index, or -1.
 */
function findTwin({ byPath, byName }: ReturnType<typeof indexTests>, { all, own }: Words): number {
  const named = byName.get(own.join(' ')) ?? [];
  return byPath.get(all.join(' '))?.[0] ?? (named.length === 1 ? (named[0] ?? -1) : -1);
}

/** Indexes the positions of tests in their list by all their words and by the words of their names. */
function indexTests(reported: readonly ReportedTest[]) {
  const places = [...reported.keys()];
  return {
    byPath: Map.groupBy(places, (place) => reported[place]?.words.all.join(' ') ?? ''),
    byName: Map.groupBy(places, (place) => reported[place]?.words.own.join(' ') ?? ''),
  };
}

/**
 * Checks whether a runner's own reader covers the item: it has reported the test, or has read the lines
 * around it.
 */
function isCovered(
  reported: readonly ReportedTest[],
  { start, trust, framework, listed }: Item,
  words: Words,
): boolean {
  if (reported.length === 0) return false;
  if (reported.some((reportedTest) => isAlike(reportedTest.words, words))) return true;
  // The log may also hold another runner's output: its marks show that, or its list is far from the other
  // tests.
  if (framework !== undefined && reported.every((reportedTest) => reportedTest.framework !== framework))
    return false;
  if (trust !== 'sure') return true;
  if (listed === 'numbered' && isApart(reported, start)) return false;
  const lines = reported.map(({ line }) => line);
  return start >= findMin(lines) - NEAR && start <= findMax(lines) + NEAR;
}

/** Checks whether a line is before or after all reported tests, and not close to any. */
function isApart(reported: readonly ReportedTest[], start: number): boolean {
  const lines = reported.map(({ line }) => line);
  return start > findMax(lines) + BESIDE || start < findMin(lines) - BESIDE;
}

/** The number of lines that one test's block has at most in most runners. */
const BESIDE = 40;

function readItems(log: LogText, lines: readonly number[]): Item[] {
  const items: Item[] = [];
  const ran = lines.some((line) => TOTALS.test(log.line(line)) || LIST.test(log.line(line)));
  let file: string | null = null;
  let next: number | null = null;
  let last = 0;
  for (const line of lines) {
    const text = log.line(line).trimEnd();
    if (OTHER_LIST.test(text)) next = null;
    else if (LIST.test(text)) next = 1;
    if (next === 1) append(items, readListed(log, line, text));
    const heading = FILE_HEAD.exec(text)?.groups?.file;
    if (heading !== undefined) file = heading;
    if (file !== null && /^\s{1,6}● Test suite failed to run$/.test(text))
      items.push(createFileItem(log, line, file));
    if (heading !== undefined && LOAD_ERROR.test(log.line(line + 1)))
      items.push(createFileItem(log, line, heading));
    if (line <= last || NO_RESULT.test(text)) continue;
    const numbered =
      next === null && !isOwnItem(log, line, text) ? null : readNumbered(log, line, text, next);
    const item = numbered ?? readApart(log, line, text) ?? readMarked(log, line, text, ran);
    if (item === null || items.length >= MAX_ITEMS) continue;
    if (numbered !== null && next !== null) next++;
    if (numbered !== null) last = findTitleEnd(log, line);
    const ownFile = item.known.file ?? (file !== null && isTestFile(file) ? file : null);
    items.push({
      ...item,
      known: { ...item.known, file: ownFile },
      ...(numbered !== null && { listed: 'numbered' }),
    });
  }
  return items;
}

/**
 * Checks whether a numbered item without a heading is a failure: it says that it failed, or a line next to it
 * is only a place.
 */
function isOwnItem(log: LogText, line: number, text: string): boolean {
  if (/^\s{0,4}\d{1,5}\) (?:(?:Failure|Error):$|(?:Failed|Error) : )/.test(text)) return true;
  return ITEM.test(text) && (isPlace(log.line(line + 1)) || isPlace(log.line(line - 1)));
}

/** Reads `1) title`, and the titles of mocha's suites below it. The numbers must be consecutive. */
function readNumbered(log: LogText, line: number, text: string, next: number | null): Item | null {
  const title = ITEM.exec(text)?.groups?.title;
  if (title === undefined || (next !== null && Number.parseInt(text.trim(), 10) !== next)) return null;
  const below = log.line(line + 1).trim();
  if (/^(?:Failure|Error):$/.test(title))
    return createItem(log, line, { title: below.replace(/:$/, '') }, 'sure', line + 1);
  // A pending RSpec example that failed as expected gives its reason first.
  if (/^\s{4,10}# /.test(log.line(line + 1))) return null;
  const named = /^(?:Failed|Error) : (?<title>\S.{0,400})$/.exec(title)?.groups?.title;
  if (named !== undefined) return createItem(log, line, { title: named }, 'sure', line);
  const end = findTitleEnd(log, line);
  const titles = listLinesBetween(log, line + 1, end).map((titleLine) => titleLine.trim());
  if (titles.length === 0) return createItem(log, line, { title: title.replace(/:$/, '') }, 'sure', line);
  const whole = [title, ...titles];
  // A title that contains a value printed on several lines ends at the line that closes the value.
  const open = whole.findIndex((text) => OPEN.test(text));
  const path = open === -1 ? whole : [...whole.slice(0, open), whole.slice(open).join(' ')];
  const name = path.at(-1)?.replace(/:$/, '') ?? '';
  return createItem(log, line, { title: name, suite: path.slice(0, -1).join(' ') }, 'sure', end);
}

/** Reads the items of a list that name a class or file, after the heading on its line or below it. */
function readListed(log: LogText, head: number, text: string): Item[] {
  const end = findBlockEnd(log, head, 300, (below) => below.trim() !== '' && !LIST.test(below));
  const behind = /^[^:\n]{1,40}:(?<item>[^\n]{1,600})$/.exec(text)?.groups?.item;
  return Array.from({ length: end - head + 1 }, (_, i) => head + i).flatMap((line) => {
    const item = line === head ? behind?.trim() : log.line(line).trim();
    const file = LISTED_FILE.exec(item ?? '')?.groups?.file;
    if (file !== undefined && isTestFile(file)) return [readListedFile(log, line, file)];
    const groups =
      item === undefined
        ? undefined
        : LISTED.map((pattern) => pattern.exec(item)?.groups).find((pattern) => pattern !== undefined);
    return groups === undefined
      ? []
      : [{ ...createItem(log, line, groups, 'sure', line), end: line, listed: 'plain' }];
  });
}

/** Creates an item for a file that could not be loaded. None of its tests ran, so the file is what failed. */
function createFileItem(log: LogText, line: number, file: string): Item {
  const item = createItem(log, line, { title: '' }, 'sure', line);
  return { ...item, known: { ...item.known, name: file, suite: null, file } };
}

/** Reads a file that a list only names; its error is above the list. */
function readListedFile(log: LogText, line: number, file: string): Item {
  const item = createFileItem(log, line, file);
  return { ...item, known: { name: file, suite: null, file, line: null }, end: line, listed: 'plain' };
}

function findTitleEnd(log: LogText, line: number): number {
  if (/:$/.test(log.line(line).trimEnd())) return line;
  const indent = countIndent(log.line(line));
  let isValue = false;
  for (let at = line + 1; at <= line + (isValue ? 40 : 8); at++) {
    const text = log.line(at);
    isValue ||= OPEN.test(log.line(at - 1).trimEnd());
    if (!isValue && (text.trim() === '' || countIndent(text) <= indent || DETAIL.test(text))) return line;
    if (/:$/.test(text.trimEnd())) return at;
  }
  return line;
}

/**
 * Reads a result on a line of its own. The name is on the line above, after a label, or on the line below if
 * the result is followed by a place.
 */
function readApart(log: LogText, line: number, text: string): Item | null {
  const place =
    /^(?:Failure|Error|FAIL|FAILED) \S{1,2} (?<file>[^\s@]{1,300}\.\w{1,6})(?: @ |:)(?<line>\d{1,7})$/.exec(
      text,
    )?.groups;
  if (place !== undefined)
    return createItem(log, line, { ...place, title: log.line(line + 1).trim() }, 'sure', line + 1);
  if (!/^(?:FAILED|FAIL|Caused an ERROR)$/.test(text.trim())) return null;
  const above = log.line(line - 1).trim();
  const title = /^Test ?[Cc]ase: (?<title>\S.{0,300}?)(?: took .{1,20})?:?$/.exec(above)?.groups?.title;
  return title === undefined ? null : createItem(log, line - 1, { title }, 'sure', line);
}

function readMarked(log: LogText, line: number, text: string, ran: boolean): Item | null {
  // Trying a pattern anchored at the end is slow, so the last character is checked first.
  const mayEnd = /[)\]cs]/.test(text.charAt(text.length - 1));
  const bare = mayEnd ? text.replace(/ \(\w{1,60}\)$/, '').replace(TIME, '') : text;
  const timed = mayEnd && TIME.test(text);
  for (const { pattern, trust, timed: needsTime, framework } of FORMS) {
    if (needsTime === true && !timed) continue;
    const read = (pattern.exec(bare) ?? (trust === 'sure' && bare !== text ? pattern.exec(text) : null))
      ?.groups;
    if (read?.title === undefined) continue;
    const groups = { ...read, framework };
    if (trust === 'weak' && !ran && hasPassedNear(log, line) && hasDetail(log, line))
      return createItem(log, line, groups, trust, line);
    const isTitled = /^={20,200}$/.test(log.line(line - 1)) && !/^_{2}/.test(bare);
    if (trust !== 'sure' && !isTitled && (!isTestTitle(read.title.replace(/[\s.…:*|]{1,80}$/, '')) || !ran))
      return null;
    if (trust === 'weak' && !timed && !hasPassedNear(log, line) && !hasDetail(log, line)) return null;
    return createItem(log, line, groups, trust, line);
  }
  return null;
}

/** Checks whether the line below is indented more, that is, whether it describes the failure. */
function hasDetail(log: LogText, line: number): boolean {
  return log.line(line + 1).trim() !== '' && countIndent(log.line(line + 1)) > countIndent(log.line(line));
}

function hasPassedNear(log: LogText, line: number): boolean {
  return listLinesBetween(log, Math.max(1, line - 30), line + 30, 61).some(
    (text, i) => i !== Math.min(30, line - 1) && PASSED.test(text),
  );
}

function createItem(
  log: LogText,
  line: number,
  groups: Readonly<Record<string, string | undefined>>,
  trust: Trust,
  from: number,
): Item {
  const title = readTitle(groups.title ?? '');
  const indent = countIndent(log.line(line));
  const end = findBodyEnd(log, line, from);
  const suite =
    groups.suite ??
    title.suite ??
    (trust === 'weak' && indent > 0 ? findHeadingsAbove(log, line, indent) : null);
  const body = listLinesBetween(log, from + 1, end);
  const read = readBlock(groups.message === undefined ? body : [groups.message, ...body], {
    name: title.name,
    suite,
  });
  const place = title.file === null ? (groups.file ?? null) : title.file;
  const above = placeAbove(log, line);
  const known: KnownTest = {
    ...read,
    name: title.name,
    suite,
    file: place ?? read.file ?? above.file,
    line: title.line ?? (groups.line === undefined ? (read.line ?? above.line) : Number(groups.line)),
  };
  return {
    title: groups.title?.trim() ?? '',
    known,
    start: line,
    end,
    indent,
    trust,
    framework: groups.framework,
  };
}

/**
 * Returns the last line of a test's block: lines that are indented more, or the paragraph directly below. The
 * next result ends it.
 */
function findBodyEnd(log: LogText, line: number, from: number): number {
  const indent = countIndent(log.line(line));
  let isParagraph = true;
  const end = findBlockEnd(log, from, MAX_BODY, (text, at) => {
    const isBlank = text.trim() === '';
    if (isBlank && at > from + 1) isParagraph = false;
    if (/^[=_⎯]{6,}|^-{20,}$/.test(text.trim()) && at > from + 1) return false;
    if (isBlank) return true;
    const isDifference = countIndent(text) > indent && /^\s{1,40}[-+] /.test(text);
    if (
      (PASSED.test(text) && !isDifference) ||
      FORMS.some(({ pattern, trust }) => trust !== 'marked' && pattern.test(text.trimEnd())) ||
      ITEM.test(text)
    )
      return false;
    return isParagraph || countIndent(text) > indent || placeIn(text) !== null || isPlace(text);
  });
  return withoutBlanks(log, from, end);
}

/** Returns the headings above a line in a tree of results, each indented less than the one below it. */
function findHeadingsAbove(log: LogText, line: number, indent: number): string | null {
  const path: string[] = [];
  let below = indent;
  for (let at = line - 1; at >= Math.max(1, line - 200) && below > 0; at--) {
    const text = log.line(at).trimEnd();
    if (text.trim() === '' || countIndent(text) >= below || /^\s{0,40}[✗✖✕✘×⨯✓√✔]/.test(text)) continue;
    if (FILE_HEAD.test(text)) break;
    if (!isTestTitle(text.trim()) || text.length > 200) break;
    path.unshift(text.trim());
    below = countIndent(text);
  }
  return path.join(' ') || null;
}

/**
 * Removes unreliable items: weakly marked ones if there are marks of a known runner or a numbered list, and
 * listed places in a class whose tests are shown one by one, since such a place may be where the exception
 * was thrown. A file that could not be loaded is kept only if none of its tests is named.
 */
function removeUnlisted(items: readonly Item[]): Item[] {
  const isKnown = items.some(({ framework, listed }) => framework !== undefined || listed === 'numbered');
  const listedTests = new Set(
    items.flatMap(({ known, listed }) =>
      listed === 'plain' || known.suite == null ? [] : getClassName(known.suite),
    ),
  );
  const tests = items.filter(({ known, framework, trust, listed }) => {
    if (isKnown && framework === undefined && trust !== 'sure') return false;
    return (
      listed !== 'plain' ||
      known.suite == null ||
      known.line == null ||
      !listedTests.has(getClassName(known.suite))
    );
  });
  const named = new Set(
    tests.flatMap(({ known }) => (known.name === known.file || known.file == null ? [] : [known.file])),
  );
  const isWhole = tests.some(({ known }) => known.name !== known.file && known.file == null);
  return tests.filter(({ known }) => known.name !== known.file || !(isWhole || named.has(known.name)));
}

function getClassName(suite: string): string {
  return suite.slice(suite.lastIndexOf('.') + 1);
}

/**
 * Adds the text below a list of failed titles, where each title is repeated on a line and the failure is
 * described below it.
 */
function withPassages(log: LogText, items: readonly Item[]): Item[] {
  const bare = items.filter(({ start, end, title }) => end <= start + 1 && title.length > 3);
  const last = items.at(-1)?.start ?? 0;
  const passages: Item[] = [];
  for (
    let line = last + 1;
    bare.length > 0 && line <= Math.min(log.lineCount, last + 200 + bare.length * 60);
    line++
  ) {
    const text = log.line(line).trim();
    if (text.length < 4 || log.line(line + 1).trim() !== '') continue;
    const item = bare.find(({ title }) => title === text || title.startsWith(`${text} `));
    if (item === undefined) continue;
    const isPart = (below: string, at: number) =>
      !/^\s{0,4}─{1,3}$/.test(below) && (below.trim() !== '' || log.line(at + 1).trim() !== '');
    const end = findBlockEnd(log, line, MAX_BODY, isPart);
    const named = readTitle(text);
    const whole = {
      name: named.name,
      suite: named.suite ?? (named.name === item.known.name ? (item.known.suite ?? null) : null),
    };
    passages.push({
      ...item,
      known: { ...readBlock(listLinesBetween(log, line + 1, end), whole), ...whole },
      start: line,
      end,
    });
  }
  const byTitle = new Map(passages.map((passage) => [passage.title, passage]));
  return items.flatMap((item) => {
    const passage = byTitle.get(item.title);
    if (passage === undefined) return [item];
    const { name, suite = null } = passage.known;
    return [{ ...item, end: item.start, known: { ...item.known, message: null, name, suite } }, passage];
  });
}

/** Merges reports of one test in the tree of a run and in its summary. The longest name is kept. */
function keepUnique(items: readonly Item[]): Item[] {
  const byLast = new Map<string, KnownTest[]>();
  for (const { known } of items) {
    const last = getLastWord(known);
    const same = byLast.get(last) ?? [];
    const at = same.findIndex((other) => isSame(other, known));
    if (at === -1) byLast.set(last, [...same, known]);
    else if (listPathWords(known).length > listPathWords(same[at] ?? known).length) same[at] = known;
  }
  return items.map((item) => {
    const whole = byLast.get(getLastWord(item.known))?.find((other) => isSame(other, item.known));
    return whole === undefined
      ? item
      : { ...item, known: { ...item.known, name: whole.name, suite: whole.suite ?? null } };
  });
}

function getLastWord({ name }: KnownTest): string {
  return splitTestName({ suite: null, name }).own.at(-1) ?? '';
}

function isSame(left: KnownTest, right: KnownTest): boolean {
  const [a, b] = [` ${listPathWords(left).join(' ')}`, ` ${listPathWords(right).join(' ')}`];
  return a.endsWith(b) || b.endsWith(a);
}

function listPathWords({ suite = null, name }: KnownTest): readonly string[] {
  return splitTestName({ suite, name }).all;
}

/** Removes suites that failed only because their tests did. */
function withoutSuites(log: LogText, items: readonly Item[]): Item[] {
  const names = items.map(({ known }) => known.name);
  return items.filter(({ known, start, indent, trust }, index) => {
    if (names.some((name) => name.startsWith(`${known.name}/`))) return false;
    if (trust !== 'weak') return true;
    const after = items[index + 1];
    if (after !== undefined && after.indent > indent && after.start <= start + 3 && after.trust === 'weak')
      return false;
    return findLineAbove(log, start - 1, 199, (text) => text.trim() === `▶ ${known.name}`) === null;
  });
}
