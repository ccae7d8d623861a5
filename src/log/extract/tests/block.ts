import type { FailingTest } from '../../../domain/failure.ts';
import { isForeignFile, readFrame } from '../../frames.ts';
import { type LogText, listLinesBetween } from '../../lines/lines.ts';
import type { Findings, Groups } from '../extraction.ts';
import { readChangedLines } from './changed-lines.ts';

type Sides = Pick<FailingTest, 'expected' | 'actual'>;

/** The tag that build tools put before each line. */
export const TAG = /^\s{0,12}\[(?:info|error|warn|junit|INFO|ERROR|WARNING)\] ?/;
/** A path with an extension and a line number, in any of the usual notations. */
const PLACE = new RegExp(
  String.raw`(?<file>(?:[A-Za-z]:)?[^\s:()'"[\]@,<>*]{1,300}\.[A-Za-z]\w{0,8})'?(?:[:(#]|` +
    String.raw`:line |, line | line | @ )(?<line>\d{1,7})(?!\d|\.\d)`,
);
/** The text that may precede a message on its line. */
const BEFORE_MESSAGE = new RegExp(
  String.raw`^(?:[^\s:()]{1,300}[:(]\d{1,7}(?::\d{1,6})?\)?: |\[\d\d:\d\d:\d\d\] |` +
    String.raw`\[xUnit\.net [\d:.]{1,20}\]\s{0,12}|(?:Reason|Message|Error Message): |Error:\s{2,20})?` +
    String.raw`(?:(?:FATAL )?ERROR: (?=\w{1,40}\())?`,
);
/** Lines that are not a message: a label, a place, a line of dashes, a stack frame. */
const NO_MESSAGE = new RegExp(
  String.raw`^(?:(?:unknown file|[^\s:()]{1,300}[:(]\d{1,7}\)?): (?:Failure|error)$|` +
    '(?:Error thrown in test|Message|Stack|Stack ?trace|Error Message|Output|Failure/Error|' +
    String.raw`stacktrace|FAILED|Caused an ERROR):?$|[─⎯=\-_.*~^]{1,300}$|` +
    String.raw`Error Trace:\s.{0,400}$|` +
    String.raw`[A-Z][A-Za-z]{1,30}(?: [A-Z][A-Za-z]{1,30}){0,3} ?\d[\d.]{0,20} \([^()\n]{1,60}\)$|` +
    String.raw`[-─]{2}[^\n]{1,200}[-─]{2}$|at \S{1,300}$|at [^\n]{1,300}\(|` +
    String.raw`(?:[^\w\s] )?[^\s:]{1,300}[:(]\d{1,7}(?::\d{1,6})?\)?:?$|\W{1,4}$)`,
);
/** A line of code that a runner quotes with its number. */
const QUOTED_CODE = /^(?:>|➜|❯|\|)?\s{0,6}\d{1,6}\s{0,3}[|▕:│]/;
/** The text of an exception that is not an assertion, in the notations of different languages. */
const THROWN = new RegExp(
  String.raw`^(?:\*\* \(|C\+\+ exception with description |(?!(?:[\w.$:]{0,80}[.:])?(?:Assert|` +
    String.raw`Comparison|Expectation|MultipleFail|Failed|RSpec::Expect|Minitest::Assert)\w{0,40}\b)` +
    String.raw`(?:[A-Za-z_][\w$]{0,80}(?:\.|::)){0,8}[A-Z]\w{0,80}(?:Error|Exception)\b)`,
);
/** The line before an exception's message, in runners that print the failed check first. */
const UNEXPECTED =
  /^(?:due to (?:a fatal error|unexpected exception) with messages?|unexpected exception):$/i;
/**
 * Notations of expected and actual value that `splitExpectation` does not know. The two values may be on
 * different lines.
 */
// biome-ignore format: one row for each notation
const SIDES: readonly { readonly expected: RegExp; readonly actual: RegExp }[] = [
  { expected: /\{expected,(?<value>[^\n]{1,200}?)\}(?:,|$)/m, actual: /\{value,(?<value>[^\n]{1,200}?)\}/ },
  { expected: /^\s{0,12}right: (?<value>\S[^\n]{0,300})$/m,
    actual: /^\s{0,12}left: {1,4}(?<value>\S[^\n]{0,300})$/m },
  { expected: /^\s{0,12}\+\+(?<value>\S[^\n]{0,300}?)(?:\s{1,20}\(Expected\))?$/m,
    actual: /^\s{0,12}--(?<value>\S[^\n]{0,300}?)(?:\s{1,20}\(Actual\))?$/m },
  { expected: /^\s{0,12}Expected:\s{0,4}\n\s{0,12}(?:\(\w{1,20}\) )?(?<value>\S[^\n]{0,300})$/m,
    actual: new RegExp(
      String.raw`^\s{0,12}(?:Passed in|Actual|Received|Got):\s{0,4}\n\s{0,12}` +
      String.raw`(?:\(\w{1,20}\) )?(?<value>\S[^\n]{0,300})$`,
      'm',
    ) },
  { expected: /^\s{0,40}expected: (?<value>\S[^\n]{0,300}?),?$/im,
    actual: /^\s{0,40}(?:actual|got|received) {0,2}: {1,8}(?<value>\S[^\n]{0,300}?),?$/im },
  { expected: /^\s{0,12}Expected(?:\s{1,8}\([^\n:]{0,200}\))?\s{0,80}: (?<value>\S[^\n]{0,300})$/m,
    actual: /^\s{0,12}Actual(?:\s{1,8}\([^\n:]{0,200}\))?\s{0,80}: {1,4}(?<value>\S[^\n]{0,300})$/m },
  { expected: /^\s{0,12}Expected to \w{1,20}: {1,4}(?<value>\S[^\n]{0,300})$/m,
    actual: /^\s{0,12}Received: {1,4}(?<value>\S[^\n]{0,300})$/m },
  { expected: /<(?<value>[^\n]{0,300})> expected but was\n/,
    actual: /> expected but was\n<(?<value>[^\n]{0,300})>/ },
];
/** Notations that have both values of a comparison on one line or in one paragraph. */
const COMPARED: readonly RegExp[] = [
  /Expected (?<actual>[^\n]{1,200}?) to (?:be|equal) (?!equal)(?<expected>[^\n]{1,200}?)\.(?:\n|$)/,
  / has failed \[(?<actual>[^\n]{1,250}) != (?<expected>[^\n]{1,250})\]/,
  /with expansion:\n\s{1,8}(?<actual>[^\n]{1,300}?) == (?<expected>[^\n]{1,300})/,
  /values: \w{1,40}\( (?<actual>[^\n]{1,200}?) == (?<expected>[^\n]{1,200}) \)/,
  /Expected (?<expected>[^\n]{1,200}?), but got (?<actual>[^\n]{1,200}?)\.(?:\n|$)/,
  /Evaluated: (?<actual>[^\n]{1,300}?) (?:==|≈|===|isequal) (?<expected>[^\n]{1,300})/,
  /\("(?<actual>[^\n]{0,250}?)"\) is not equal to \("(?<expected>[^\n]{0,250}?)"\)/,
  new RegExp(
    String.raw`<[^>\n]{1,80}>: (?<actual>[^\n]{1,300})\n\s{0,12}to \w{1,20}\n\s{0,12}<[^>\n]{1,80}>: ` +
      String.raw`(?<expected>[^\n]{1,300})`,
  ),
  /(?:^|\n)\s{0,12}(?<actual>[^\n]{1,300}?) did not equal (?<expected>[^\n]{1,300}?)(?: \(|\n|$)/,
  new RegExp(
    String.raw`Difference \(- actual, \+ expected\):\s{1,8}- (?<actual>[^\n]{1,300})` +
      String.raw`\n\s{0,8}\+ (?<expected>[^\n]{1,300})`,
  ),
  new RegExp(
    String.raw`(?:^|\n)--- ?Expected[^\n]{0,20}\n[^\n]{0,80}\n(?:@@[^\n]{0,40}\n)?` +
      String.raw`-(?<expected>[^\n]{1,300})\n\+(?<actual>[^\n]{1,300})`,
  ),
  new RegExp(
    String.raw`^(?:[\w.]{1,80}(?:Error|Exception): )?(?<actual>[^\n]{1,100}?)(?: \([\w ]{1,20}\))?` +
      String.raw` != (?<expected>[^\n]{1,100}?)(?: \([\w ]{1,20}\))?(?:\n|$)`,
  ),
];

/**
 * Reads the place, the message and the compared values from the lines below a title. The file is the test's
 * own if one of the places is in it, or else the first file of the project's own code.
 */
export function readBlock(body: readonly string[], title: Pick<FailingTest, 'name' | 'suite'>) {
  const plain = body.map((text) => text.replace(TAG, ''));
  const place = findOwnPlace(plain, title);
  // pytest marks the lines of an exception with an E at the margin.
  const raised = plain
    .filter((text) => /^E(?:\s{2,40}|$)/.test(text))
    .map((text) => text.replace(/^E\s{0,3}/, ''));
  const lines = raised.length > 0 ? raised : plain;
  const message = extractMessage(lines, title.name);
  // An exception that is not an assertion compares nothing, whatever source code is printed around it.
  const sides =
    message !== null && THROWN.test(message)
      ? { expected: null, actual: null }
      : extractSides(lines.join('\n'));
  return { file: place?.file ?? null, line: place?.line ?? null, message, ...sides };
}

/** Returns the groups of the first line that the pattern matches. */
export function matchGroups(lines: readonly string[], pattern: RegExp): Groups | undefined {
  for (const text of lines) {
    const groups = pattern.exec(text)?.groups;
    if (groups !== undefined) return groups;
  }
  return undefined;
}

/** Checks whether a path is that of a test file, judging by its name. */
export function isTestFile(path: string): boolean {
  return /(?:^|[/\\])(?:tests?|specs?|__tests__|e2e|features)[/\\]|(?:^|[/\\._-])(?:tests?|specs?|cy)(?:[._-]|$)|[a-z\d](?:Tests?|Spec|IT)\.\w{1,8}$|\.(?:feature|phpt|t|bats)$/i.test(
    path,
  );
}

function findOwnPlace(
  body: readonly string[],
  { name, suite }: Pick<FailingTest, 'name' | 'suite'>,
): ReturnType<typeof placeIn> {
  // Go's tests are in files that end in _test.go.
  const places = body
    .flatMap((text) => placeIn(text) ?? [])
    .filter(({ file }) => !/(?<!_test)\.go$/.test(file));
  const words = [suite?.split(/[\s.:\\$>›]/).findLast((word) => word !== ''), name.split(/[^\w$]/)[0]].filter(
    (word) => (word?.length ?? 0) > 2,
  );
  return (
    places.find(({ file }) => words.some((word) => file.split(/[/\\]/).at(-1)?.startsWith(`${word}.`))) ??
    places.find(({ file }) => isTestFile(file)) ??
    places[0] ??
    null
  );
}

/** Returns the place in the project's own code that a line names; null if it names none. */
export function placeIn(text: string): { readonly file: string; readonly line: number | null } | null {
  const frame = readFrame(text);
  if (frame !== null)
    return frame.own ? { file: frame.file.replace(/^file:\/\//, ''), line: frame.line } : null;
  const place = PLACE.exec(text.slice(0, 600))?.groups;
  const file = place?.file?.replace(/^file:\/\//, '').replace(/^.*=(?=[\w./])/, '');
  return file === undefined || /^\d/.test(file) || /\/\/|^www\./.test(file) || isForeignFile(file)
    ? null
    : { file, line: Number(place?.line) };
}

function extractMessage(body: readonly string[], name: string): string | null {
  if (body.some((text) => text.trim() === 'Traceback (most recent call last):')) return readRaisedLast(body);
  const unexpected = body.findIndex((text) => UNEXPECTED.test(text.trim()));
  if (unexpected !== -1) return body[unexpected + 1]?.trim().slice(0, 1_000) ?? null;
  const thrown = body.find((text) => /^\s{0,8}[A-Z]\w{0,60}(?:Error|Exception): \S/.test(text));
  if (thrown !== undefined && body.some((text) => /(?:Error|Exception) \{$/.test(text)))
    return thrown.trim().slice(0, 1_000);
  for (const [at, text] of body.entries()) {
    const trimmed = text.trim();
    const message = trimmed.replace(BEFORE_MESSAGE, '');
    if (message === '' || isNoMessage(trimmed) || trimmed === name || trimmed.startsWith('Failure/Error:'))
      continue;
    return joinLedLines([message, ...body.slice(at + 1)]).slice(0, 1_000);
  }
  return null;
}

/** The maximum number of lines that are joined to a message that ends in a colon. */
const MAX_LED = 4;

/** Joins the following lines to a message whose first line ends in a colon, as far as they belong to it. */
export function joinLedLines([message = '', ...below]: readonly string[]): string {
  if (!message.endsWith(':')) return message;
  const isEnd = (text: string, at: number) =>
    !/[\p{L}\p{N}]/u.test(text) || /^(?:# \S{1,300}:\d|at )/.test(text) || (at > 0 && isNoMessage(text));
  const lines = below.slice(0, MAX_LED).map((text) => text.trim());
  const end = lines.findIndex(isEnd);
  return [message, ...(end === -1 ? lines : lines.slice(0, end))].join(' ');
}

function isNoMessage(text: string): boolean {
  return NO_MESSAGE.test(text) || QUOTED_CODE.test(text);
}

/** Returns the exception that Python prints below a trace. In a chain, the last exception ended the test. */
function readRaisedLast(body: readonly string[]): string | null {
  const captured = body.findIndex((text) => /-{8} ?>> begin captured/.test(text));
  const raised = body
    .slice(0, captured === -1 ? undefined : captured)
    .findLast((text) =>
      /^\s{0,8}[A-Za-z_][\w.]{0,200}(?:Error|Exception|Failure|FailTest|Exit|Interrupt|Warning|Timeout)\b/.test(
        text,
      ),
    );
  return raised?.trim().slice(0, 1_000) ?? null;
}

/**
 * Extracts what a test expected and what it got in any notation; both are null if the text does not show
 * them. Two equal sides show nothing: the runner has shortened what differs.
 */
export function extractSides(text: string): Sides {
  const sides = findSides(text);
  const isShown = sides.expected !== sides.actual && !isImage(sides.actual);
  return isShown ? sides : { expected: null, actual: null };
}

function findSides(text: string): Sides {
  const head = text.slice(0, 4_000);
  const changed = readChangedLines(head);
  if (changed !== null) return changed;
  for (const shape of COMPARED) {
    const both = shape.exec(head)?.groups;
    if (both !== undefined)
      return { expected: both.expected?.trim() ?? null, actual: both.actual?.trim() ?? null };
  }
  let half: Sides | null = null;
  for (const { expected, actual } of SIDES) {
    const value = expected.exec(head)?.groups?.value?.trim();
    if (value === undefined) continue;
    const sides = { expected: value, actual: actual.exec(head)?.groups?.value?.trim() ?? null };
    if (sides.actual !== null) return sides;
    half ??= sides;
  }
  const split = splitExpectation(head);
  return split.expected === null && half !== null ? half : split;
}

/** The facts that a reader knows about one failing test in addition to the lines that report it. */
export type KnownTest = Pick<FailingTest, 'name'> &
  Partial<Pick<FailingTest, 'suite' | 'file' | 'line' | 'message' | 'expected' | 'actual'>>;

/**
 * Adds a test reported by the lines `start` to `end`, 1-based and inclusive. What `known` leaves out is read
 * from them where they show it.
 */
export type AddTest = (known: KnownTest, start: number, end: number) => void;

/** The framework of tests whose runner is not known. */
export const UNKNOWN = 'tests';

/**
 * Opens the list of one framework's failing tests in one log. `found` receives them with their weighted
 * blocks. A test that is reported twice (where it ran, and in a summary) is added once.
 */
export function openTestList(log: LogText, found: Findings, framework: string): AddTest {
  const seen = new Map<string, number>();
  return (known, start, end) => {
    if (known.name === '') return;
    const key = `${known.suite ?? ''}\u0001${known.name}`;
    const spans = [found.range(start, end)];
    const test = found.testAt(start, framework, {
      ...readBody(log, start, end, known),
      ...pickDefined(known),
      spans,
    });
    const index = seen.get(key) ?? -1;
    const before = found.failingTests[index];
    propose(log, found, start, end, seen.size, test);
    if (framework !== UNKNOWN) found.toolchains.add(framework);
    if (before === undefined) seen.set(key, found.failingTests.push(test) - 1);
    else found.failingTests[index] = join(before, test);
  };
}

/**
 * Finds the nearest line above `line` for which `read` returns a value, looking at most `limit` lines up.
 * Returns the number of that line and the value.
 */
export function lookBack<T>(
  log: LogText,
  line: number,
  limit: number,
  read: (text: string) => T | null | undefined,
): { line: number; value: T } | null {
  for (let at = line - 1; at >= Math.max(1, line - limit); at--) {
    const value = read(log.line(at));
    if (value !== null && value !== undefined) return { line: at, value };
  }
  return null;
}

/**
 * Reads message, place and compared values from a test's block. In a diff, `-` marks the expected value and
 * `+` the actual one.
 */
function readBody(log: LogText, start: number, end: number, known: KnownTest): Partial<FailingTest> {
  const body = listLinesBetween(log, start + 1, end);
  const first = body.find((text) => text.trim() !== '' && !text.includes(known.name))?.trim();
  // A line of dashes or the beginning of a YAML block is not a message.
  const message = first === undefined || !/[\p{L}\p{N}]/u.test(first) ? null : first.slice(0, 1_000);
  const frame =
    known.file === undefined || known.file === null
      ? body.map(readFrame).find((candidate) => candidate?.own === true)
      : undefined;
  const place = frame === undefined || frame === null ? {} : { file: frame.file, line: frame.line };
  return { message, ...place, ...extractExpectation(body) };
}

function extractExpectation(body: readonly string[]): Sides {
  const expectation = splitExpectation(body.join('\n'));
  if (expectation.expected !== null) return expectation;
  const head = body.findIndex((text) => /^\s{0,12}--- ?Expected\s{0,4}$/i.test(text));
  const [expected, actual] =
    head === -1
      ? []
      : ['-', '+'].map((sign) => body.slice(head + 2).find((text) => text.trimStart().startsWith(sign)));
  return {
    expected: expected?.trim().slice(1).trim() ?? null,
    actual: actual?.trim().slice(1).trim() ?? null,
  };
}

/** Adds blocks for the whole report, for its beginning, and for the message if it is far below. */
function propose(
  log: LogText,
  found: Findings,
  start: number,
  end: number,
  nth: number,
  { framework, message }: FailingTest,
): void {
  const less = Math.min(nth, 30) * 0.4;
  const reason = framework === UNKNOWN ? 'failing test' : `${framework} failure`;
  found.block(start, end, (end === start ? 72 : 86) - less, reason);
  if (end === start) return;
  found.block(start, Math.min(start + 8, end), 91 - less, reason);
  const proposedMessage =
    message === null
      ? -1
      : listLinesBetween(log, start + 9, end, 400).findIndex((text) => text.includes(message));
  if (proposedMessage !== -1)
    found.block(start + proposedMessage + 6, Math.min(start + proposedMessage + 17, end), 92 - less, reason);
}

function pickDefined(known: KnownTest): KnownTest & Partial<FailingTest> {
  const kept = Object.entries(known).filter(([, value]) => value !== undefined && value !== null);
  return { ...Object.fromEntries(kept), name: known.name };
}

/** Merges two reports of the same test. The merged test points to the report with more information. */
function join(before: FailingTest, after: FailingTest): FailingTest {
  const isFuller = before.message === null && after.message !== null;
  const isOwn =
    after.file === null || (before.file !== null && (isTestFile(before.file) || !isTestFile(after.file)));
  return {
    ...before,
    file: isOwn ? before.file : after.file,
    line: isOwn
      ? (before.line ?? (before.file === after.file ? after.line : null))
      : (after.line ?? (before.file === null ? before.line : null)),
    message: before.message ?? after.message,
    expected: before.expected ?? after.expected,
    actual: before.actual ?? after.actual,
    at: isFuller ? after.at : before.at,
    spans: [...(before.spans ?? []), ...(after.spans ?? [])],
  };
}

const SHAPES: readonly RegExp[] = [
  new RegExp(
    String.raw`Expected: (?<expected>\S[^\n]{0,300})\n(?:\s{0,12}Timeout: [^\n]{1,20}\n)?` +
      String.raw`\s{0,12}Error: element\(s\) (?<actual>not found)`,
  ),
  /expected:? ?<(?<expected>[^\n]{0,420}?)> but was:? ?<(?<actual>[^\n]{0,420}?)>/i,
  /expected \[(?<expected>[^\n]{0,420}?)\] but (?:found|was) \[(?<actual>[^\n]{0,420}?)\]/i,
  new RegExp(
    String.raw`Expected:? (?! ?- \d{1,6}\n)(?<expected>[^\n]{1,500})\n[^\n]{0,20}(?:Received|` +
      String.raw`Actual|but was|but got|Got):? +(?<actual>[^\n]{1,500})`,
    'i',
  ),
  new RegExp(
    String.raw`expected (?<actual>[^\n]{1,300}?) to (?:deeply |strictly )?(?:equal|` +
      String.raw`be|eql|match)(?: to)? (?<expected>[^\n]{1,300})`,
    'i',
  ),
  /assert (?<actual>[^\n]{1,300}?) == (?<expected>[^\n]{1,300})/,
  /(?:AssertionError: )(?<actual>[^\n]{1,300}?) != (?<expected>[^\n]{1,300}?)(?: : |\n|$)/,
  /left: `?(?<actual>[^\n`]{1,300})`?,?\n\s{0,20}right: `?(?<expected>[^\n`]{1,300})/,
  /\bgot:? {1,20}(?<actual>[^\n]{1,300})\n\s{0,40}want(?:ed)?:? {1,20}(?<expected>[^\n]{1,300})/i,
  /\bwant(?:ed)?:? {1,20}(?<expected>[^\n]{1,300})\n\s{0,40}got:? {1,20}(?<actual>[^\n]{1,300})/i,
  /(?:=|\b)\s?got (?<actual>[^\n;]{1,200}?)[,;] want(?:ed)? (?<expected>[^\n]{1,200})/i,
  /\bgot:? {1,20}(?<actual>[^\n]{1,300})\n\s{0,40}expected:? {1,20}(?<expected>[^\n]{1,300})/i,
  /expected:? (?<expected>[^\n]{1,300}?),? (?:but )?(?:got|was|found|actual):? (?<actual>[^\n]{1,300})/i,
];

/** Extracts what a test expected and what it got, if its message shows both; otherwise both are null. */
export function splitExpectation(text: string): Sides {
  const head = text.slice(0, 2_000);
  for (const shape of SHAPES) {
    const groups = shape.exec(head)?.groups;
    if (groups !== undefined && !isImage(groups.actual))
      return { expected: groups.expected?.trim() ?? null, actual: groups.actual?.trim() ?? null };
  }
  return { expected: null, actual: null };
}

/** Tells whether a value is the file of an image, whose name does not say what differs. */
function isImage(value: string | null | undefined): boolean {
  return /^\S{1,300}\.(?:png|jpe?g|webp)\s{0,4}$/.test(value ?? '');
}
