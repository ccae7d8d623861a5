import { createHash } from 'node:crypto';
import type {
  Excerpt,
  FailingTest,
  Failure,
  Fingerprint,
  LogPosition,
  LogRange,
  StackFrame,
  ThrownException,
} from '../../domain/failure.ts';
import type { Reading } from '../../domain/reading.ts';
import { findMax, takeFirstOfEach } from '../../lib/collections.ts';
import { listSpansOfTest } from '../causes/spans.ts';
import { classifyRole, isUninformative, isWrapper } from '../line-roles.ts';
import { normalizeIdentity, normalizeMessage, normalizeValue } from './normalize.ts';

/** A failure before it is stored: it has no id and belongs to no build yet. */
export type ReadFailure = Omit<Failure, 'id' | 'buildId'>;

/**
 * Lists the failures of a build: one for each failing test, or one for the build's main error if no test
 * failed.
 */
export function listFailures(reading: Reading): ReadFailure[] {
  const tests = takeFirstOfEach(reading.failingTests, ({ suite, name }) => `${suite ?? ''}\u0001${name}`);
  return tests.length > 0
    ? tests.map((test) => readFailureOfTest(reading, test))
    : [readMainFailure(reading)];
}

/** Checks whether anything in the build's logs and reports says that something failed. */
export function showsFailure(reading: Reading): boolean {
  const { failingTests, diagnostics, exceptions, messages, exits, failedSections } = reading;
  if ([failingTests, exceptions, messages, failedSections].some(({ length }) => length > 0)) return true;
  return diagnostics.some(({ severity }) => severity === 'error') || exits.some(({ code }) => code !== 0);
}

/** Groups failures by fingerprint, in the order of their first failure. */
export function groupByCause<F extends { readonly fingerprint: Fingerprint; readonly generic: boolean }>(
  failures: readonly F[],
): { fingerprint: Fingerprint; generic: boolean; failures: F[] }[] {
  const groups = Map.groupBy(
    failures,
    ({ fingerprint: { algorithm, version, value } }) => `${algorithm}/${version}/${value}`,
  );
  return [...groups.values()].flatMap((members) => {
    const [first] = members;
    return first === undefined
      ? []
      : [{ fingerprint: first.fingerprint, generic: first.generic, failures: members }];
  });
}

/**
 * Returns the exception that a failing test's lines show, with the deepest cause of its chain; null if there
 * is none.
 */
export function findThrownException(reading: Reading, test: FailingTest): ThrownException | null {
  return findExceptionNear(reading, test, findExcerptAt(reading, test.at?.source, test.at?.line));
}

/** Returns the failure of one failing test, by the lines that report it. */
export function readFailureOfTest(reading: Reading, test: FailingTest): ReadFailure {
  const excerpt = findExcerptAt(reading, test.at?.source, test.at?.line);
  const thrown = findExceptionNear(reading, test, excerpt);
  const frames: readonly StackFrame[] = thrown?.frames ?? [];
  const message =
    test.message ?? (thrown === null ? `${test.name} failed` : `${thrown.type}: ${thrown.message}`);
  const identity = computeFingerprint({
    test: test.suite === null ? test.name : `${test.suite} ${test.name}`,
    testFile: test.file,
    exceptionType: thrown?.type ?? null,
    frames,
    message: test.message,
    compared: test.expected === null || test.actual === null ? null : [test.expected, test.actual],
  });
  const { spans: _spans, ...named } = test;
  return {
    test: named,
    message,
    frames: [...frames],
    excerpt,
    spans: [...listSpansOfTest(test)],
    ...identity,
  };
}

/**
 * Returns the exception in the test's own lines, or else the first one shortly below its title that is not
 * part of another test.
 */
function findExceptionNear(
  reading: Reading,
  test: FailingTest,
  excerpt: Excerpt | null,
): ThrownException | null {
  const { exceptions, failingTests } = reading;
  if (exceptions.length === 0) return null;
  const spans = listSpansOfTest(test);
  const nearest = exceptions.find(({ at }) => at !== null && spans.some((span) => isInSpan(at, span)));
  if (nearest !== undefined) return nearest;
  const end = excerpt?.lineEnd ?? (test.at?.line ?? 0) + 30;
  const below = exceptions.find(({ at }) => {
    if (
      at === null ||
      test.at === null ||
      at.source !== test.at.source ||
      at.line < test.at.line ||
      at.line > end
    )
      return false;
    return !failingTests.some(
      (other) => other !== test && other.spans?.some((span) => isInSpan(at, span)) === true,
    );
  });
  return below ?? findPrintedBefore(reading, test);
}

function isInSpan({ source, line }: LogPosition, span: LogRange): boolean {
  return source === span.source && line >= span.lineStart && line <= span.lineEnd;
}

/**
 * Returns the exception that `go test -v` printed before the test's result: the output of a test is between
 * the previous test's result and its own.
 */
function findPrintedBefore(reading: Reading, test: FailingTest): ThrownException | null {
  const at = test.at;
  if (test.framework !== 'go' || at === null) return null;
  const others = reading.failingTests.flatMap((other) =>
    other.at !== null && other.at.line < at.line ? [other.at.line] : [],
  );
  const start = findMax(others, at.line - 300);
  return (
    reading.exceptions.find(
      (exception) =>
        exception.at !== null &&
        exception.at.source === at.source &&
        exception.at.line > start &&
        exception.at.line < at.line,
    ) ?? null
  );
}

/** The message of a failure for which the log shows no error. */
export const NO_ERROR = 'No error was found in the log.';

/** The note about logs and reports that show no error. */
export const NOTHING_FOUND = 'No error was found in the logs and reports.';

/**
 * Returns the single failure of a reading in which no test failed: its main error, or a failure that says
 * that no error was found.
 */
export function readMainFailure(reading: Reading): ReadFailure {
  const excerpt = reading.excerpts.reduce<Excerpt | null>(
    (best, other) => (best === null || other.weight > best.weight ? other : best),
    null,
  );
  const { message, type, frames } = findMainError(reading);
  const identity = computeFingerprint({ test: null, exceptionType: type, frames, message });
  // An error that only says that another one happened is no headline.
  const isOwnWords = message === null || !isWrapper(message);
  const headline = isNearTop(reading) && isOwnWords ? message : reading.messages[0]?.text;
  return { test: null, message: headline ?? message ?? NO_ERROR, frames: [...frames], excerpt, ...identity };
}

/**
 * Checks whether the first structured error is near the most informative line. If not, that line is the
 * message, and the error is used only for the fingerprint.
 */
function isNearTop({ diagnostics, exceptions, messages }: Reading): boolean {
  const top = messages[0]?.at;
  const structured = (diagnostics.find(({ severity }) => severity === 'error') ?? exceptions[0])?.at;
  if (top == null || structured == null) return true;
  return structured.source === top.source && Math.abs(structured.line - top.line) <= NEAR_TOP;
}

/** The maximum distance in lines at which the two count as near. */
const NEAR_TOP = 15;

/**
 * Returns the build's main error: its first diagnostic, else its first exception, else its most informative
 * message.
 */
function findMainError(
  reading: Reading,
): Pick<FingerprintParts, 'message' | 'frames'> & { readonly type: string | null } {
  const diagnostic = reading.diagnostics.find(({ severity }) => severity === 'error');
  if (diagnostic !== undefined) {
    const file = diagnostic.file?.split(/[\\/]/).at(-1);
    return {
      message: `${file === undefined ? '' : `${file}: `}${diagnostic.message}`,
      type: diagnostic.code,
      frames: [],
    };
  }
  const thrown = reading.exceptions[0];
  if (thrown !== undefined)
    return { message: `${thrown.type}: ${thrown.message}`, type: thrown.type, frames: thrown.frames };
  return { message: reading.messages[0]?.text ?? null, type: null, frames: [] };
}

function findExcerptAt(
  reading: Reading,
  source: string | undefined,
  line: number | undefined,
): Excerpt | null {
  if (source === undefined || line === undefined) return null;
  return (
    reading.excerpts.find(
      (excerpt) => excerpt.source === source && excerpt.lineStart <= line && line <= excerpt.lineEnd,
    ) ?? null
  );
}

/** Name of the algorithm; values compare only within one name and version. */
export const FINGERPRINT_ALGORITHM = 'faultline';
/** The version. It changes whenever the same failure would get another value. */
export const FINGERPRINT_VERSION = 5;

/** The parts that identify a failure. Anything unknown is null or empty. */
interface FingerprintParts {
  readonly test: string | null;
  /** The file of the test. */
  readonly testFile?: string | null;
  readonly exceptionType: string | null;
  readonly frames: readonly StackFrame[];
  readonly message: string | null;
  /** The values that a check expected and got, if both are known. */
  readonly compared?: readonly [expected: string, actual: string] | null;
}

/** Checks whether a message is too general to recognize a failure by it. */
export function isGenericMessage(message: string): boolean {
  const normal = normalizeMessage(message);
  return (
    normal.replace(/<\w+>|\W/g, '').length < 4 ||
    classifyRole(message) === 'passing' ||
    isUninformative(message)
  );
}

/**
 * Words of an assertion without the compared values. They say only that a check failed, like the name of the
 * test.
 */
const BARE_ASSERTION = new RegExp(
  `^(?:[\\w.$]{0,100}(?:AssertionError|AssertionFailedError|AssertionFailed|ComparisonFailure)(?: \\[\\w{1,40}\\])?:? ?)?(?:${[
    'expected (?:values|inputs) (?:not )?to (?:not )?(?:be )?equal(?: to)?',
    'expected equality of these values',
    'the expression evaluated to a falsy value',
    '(?:missing expected|got unwanted) (?:exception|rejection)',
    'expect\\((?:received|jest\\.fn\\(\\))?\\)(?:\\.\\w{1,40}){1,4}\\((?:expected)?\\)(?: // [\\w. ]{1,40})?',
    'expected:? <?(?:true|false)>? (?:to (?:be|equal)(?: \\w{1,10})?|but (?:was|got)):? ' +
      '<?(?:true|false|truthy|falsy)>?',
    '(?:true|false) is not (?:true|false)',
    'failed asserting that (?:true|false|two \\w{1,20}) (?:is|are) (?:true|false|equal|identical)',
    'assert(?:ion failed)?:?(?: (?:true|false))?',
    "assertion 'left [=!]{2} right' failed",
    'assert\\.\\w{1,40}(?:\\(\\))? fail(?:ed|ure)(?:: values (?:differ|are equal))?',
    'xctassert\\w{0,40} failed',
    'should(?: not)? be (?:true|false|equal)',
    'not equal',
  ].join('|')})?\\W{0,5}$`,
  'i',
);
/** The class of an exception that an assertion throws. */
const ASSERTION_TYPE = /Assert|Expectation|ComparisonFailure|TestFail/;
/** The first frame of a trace that was printed into the message. */
const TRACE = /\n\s{1,12}(?:at \S|File ")/;

/**
 * Computes the identity of a failure from its exception type, its deepest own frame (file and function,
 * without the line), the failing test and the normalized message. A bare assertion is identified by its test
 * and the two values that it compared, if they are more than yes and no. A failure that only says how it
 * ended (a timeout, a signal), and where in its own test, is identified by that test. Then `generic` is true:
 * the value shows that the same thing happened again but not why, so it groups and counts failures, and no
 * decision may be recalled by it. Without a test, such a failure has no identity, and the value is empty.
 */
export function computeFingerprint(parts: FingerprintParts): {
  readonly fingerprint: Fingerprint;
  readonly generic: boolean;
} {
  const test = parts.test === null ? '' : normalizeName(parts.test);
  const ending = parts.message === null ? PLAIN_ENDING : classifyEnding(parts.message);
  const message =
    ending === null ? (normalizeOwnMessage(parts, test !== '') ?? nameCompared(parts, test !== '')) : null;
  const frame = message === null ? formatFrameKey(parts) : getFrameKey(findOwnFrame(parts));
  const generic = message === null && frame === '';
  const key = buildKey();
  const value =
    key === null ? '' : createHash('sha256').update(key.join('\u0001')).digest('hex').slice(0, 32);
  return { fingerprint: { algorithm: FINGERPRINT_ALGORITHM, version: FINGERPRINT_VERSION, value }, generic };

  function buildKey(): readonly string[] | null {
    // A test that ends abnormally may time out on one machine and crash on another.
    if (generic && test !== '') return [test, '', '', `(${PLAIN_ENDING})`];
    // Two killed processes need not have anything else in common.
    if (generic) return null;
    // Test and message identify the failure. The trace is left out, because its extent differs from machine
    // to machine.
    return test !== '' && message !== null
      ? [test, '', '', message]
      : [test, parts.exceptionType ?? '', frame, message ?? ''];
  }
}

/**
 * Checks whether a fingerprint is that of an unidentified failure. Two such failures need not have anything
 * in common.
 */
export function isUnknown({ value }: Pick<Fingerprint, 'value'>): boolean {
  return value === '';
}

/**
 * Returns the failure's own message, normalized. Returns null if it is too general, or if the test is known
 * and the message is only the name of an assertion.
 */
function normalizeOwnMessage({ message }: FingerprintParts, hasTest: boolean): string | null {
  const text = message?.split(TRACE, 1)[0] ?? '';
  const identity = normalizeIdentity(text);
  if (isGenericMessage(text) || isGenericMessage(identity)) return null;
  return hasTest && BARE_ASSERTION.test(identity) ? null : identity;
}

/** Values that most checks compare, whatever they check. */
const YES_OR_NO = new RegExp(
  String.raw`^\W{0,20}(?:(?:true|false|truthy|falsy|null|nil|none|undefined|` +
    String.raw`nan|empty|some|ok|err|error|\d)\W{0,20})?$`,
  'i',
);

/** Returns the two values that a test compared. Returns null if they are unknown or only yes and no. */
function nameCompared({ compared }: FingerprintParts, hasTest: boolean): string | null {
  if (!hasTest || compared == null || compared.every((value) => YES_OR_NO.test(value))) return null;
  const [expected, actual] = compared.map(normalizeValue);
  return `expected ${expected}, got ${actual}`;
}

/** Returns the name by which a test is known in every build. */
export function testIdentity({ suite, name }: Pick<FailingTest, 'suite' | 'name'>): string {
  return normalizeName(suite === null ? name : `${suite} ${name}`);
}

/**
 * Returns the key of the deepest own frame. Returns an empty key if the frame is only the place in the test
 * where a check failed.
 */
function formatFrameKey(parts: FingerprintParts): string {
  const { test, testFile, exceptionType } = parts;
  const frame = findOwnFrame(parts);
  if (frame === undefined || test === null || (exceptionType !== null && !ASSERTION_TYPE.test(exceptionType)))
    return getFrameKey(frame);
  const base = getBaseName(frame.file);
  const isOfTest = base === getBaseName(testFile ?? '') || test.split(/[^\w-]/).includes(base);
  return isOfTest ? '' : getFrameKey(frame);
}

function findOwnFrame({ frames }: FingerprintParts): StackFrame | undefined {
  return frames.find(({ own }) => own);
}

function getFrameKey(frame: StackFrame | undefined): string {
  return frame === undefined
    ? ''
    : `${frame.file.split(/[\\/]/).slice(-2).join('/')}:${frame.function ?? ''}`;
}

/** Returns a file's name without folder and extension. */
function getBaseName(file: string): string {
  return (file.split(/[\\/]/).at(-1) ?? '').replace(/\.\w{1,8}$/, '');
}

/**
 * Normalizes a test's name but keeps its small numbers: `case 3` and `case 4` differ, but ports and times are
 * replaced.
 */
function normalizeName(name: string): string {
  return name
    .replace(/0x[0-9a-f]{4,16}|\b[0-9a-f]{12,64}\b|\d{5,}/gi, '<n>')
    .replace(/(?<=[\w.-])\\(?=[\w.-])/g, '/')
    .replace(/\s+/g, ' ')
    .replace(/ \(\d{1,9}(?:\.\d{1,9})? ?m?s\)$/, '')
    .trim();
}

/** The ending of a failure of which nothing else is known. */
export const PLAIN_ENDING = 'failed';

/**
 * The exit codes of crashed processes on Windows (NTSTATUS, unsigned), with the signal that other systems
 * use.
 */
// biome-ignore format: a table
const WINDOWS_ENDINGS: ReadonlyMap<number, string> = new Map([
  [0xc0000005, 'SIGSEGV'], [0xc00000fd, 'SIGSEGV'], [0xc0000409, 'SIGABRT'], [0x80000003, 'SIGTRAP'],
  [0xc000001d, 'SIGILL'], [0xc0000094, 'SIGFPE'], [0xc000013a, 'SIGINT'],
]);

/** Signals that have the same number on all systems. */
// biome-ignore format: a table
const SIGNALS: ReadonlyMap<number, string> = new Map([
  [1, 'SIGHUP'], [2, 'SIGINT'], [3, 'SIGQUIT'], [4, 'SIGILL'], [5, 'SIGTRAP'], [6, 'SIGABRT'],
  [7, 'SIGBUS'], [8, 'SIGFPE'], [9, 'SIGKILL'], [11, 'SIGSEGV'], [13, 'SIGPIPE'], [15, 'SIGTERM'],
]);

/** Messages of shells and runtimes that a signal ended a process. Each is a whole line. */
const SAID: readonly (readonly [RegExp, string])[] = [
  [/^(?:signal: )?segmentation fault$/i, 'SIGSEGV'],
  [/^(?:signal: )?abort(?:ed)?$/i, 'SIGABRT'],
  [/^(?:signal: )?killed$/i, 'SIGKILL'],
  [/^(?:signal: )?terminated$/i, 'SIGTERM'],
  [/^(?:signal: )?bus error$/i, 'SIGBUS'],
  [/^(?:signal: )?illegal instruction$/i, 'SIGILL'],
  [/^(?:signal: )?floating point exception$/i, 'SIGFPE'],
];

const TIME_LIMIT =
  /^(?:the )?(?:(?:test|process|case) )?(?:timed out|time ?out)(?: (?:in|after) [\d.]{1,10} ?[a-z]{1,12})?$/i;
const BY_NUMBER = new RegExp(
  '^(?:(?:the )?(?:test|process) )?(?:(?:crashed|ended|exited|failed|died|' +
    'terminated|returned|aborted) (?:with|on|by) )?(?:exit )?(?:code|' +
    String.raw`status):? ?\(?(-?\d{1,10}|0x[0-9a-f]{1,8})\)?$`,
  'i',
);
const BY_SIGNAL = new RegExp(
  '^(?:(?:the )?(?:test|process) )?(?:(?:crashed|ended|exited|failed|died|terminated|killed|' +
    String.raw`aborted|received) )?(?:(?:with|on|by) )?(?:signal:? )?\(?(SIG[A-Z]{2,6})\)?$`,
);

/**
 * Classifies how a test or process ended, with the same term on all platforms: `timeout`, a signal's name,
 * `exit 127`, or `failed` if nothing else is known. Returns null if the text is more than an ending, because
 * then it may say why.
 */
export function classifyEnding(text: string): string | null {
  if (text.length > 120) return null;
  const words = text
    .trim()
    .replace(/ \(core dumped\)$/, '')
    .replace(/[.!]$/, '');
  if (TIME_LIMIT.test(words)) return 'timeout';
  const code = BY_NUMBER.exec(words)?.[1];
  if (code !== undefined) return classifyEndingOfCode(Number(code));
  return BY_SIGNAL.exec(words)?.[1] ?? SAID.find(([pattern]) => pattern.test(words))?.[1] ?? null;
}

/**
 * Classifies an exit code. 124 is the code of `timeout`; 126 and 127 are codes of the shell. Codes that a
 * program chose itself (1, 2, 7) say nothing.
 */
function classifyEndingOfCode(code: number): string {
  const signal = WINDOWS_ENDINGS.get(code < 0 ? code + 0x1_0000_0000 : code);
  if (signal !== undefined) return signal;
  if (code === 124) return 'timeout';
  if (code === 126 || code === 127) return `exit ${code}`;
  const number = code < 0 ? -code : code - 128;
  return number > 0 && number < 65 ? (SIGNALS.get(number) ?? `SIG${number}`) : PLAIN_ENDING;
}
