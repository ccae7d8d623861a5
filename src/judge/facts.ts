import type { Diagnostic, LogPosition, ThrownException } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { classifyRole, isTolerated, isUninformative } from '../log/line-roles.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import { COMPILERS, LINTERS } from '../log/tool-kinds.ts';
import { isForeignPath, isTestPath } from './paths.ts';

/** The source of a fact, from structured extractors to single lines of excerpts. */
export type Origin = 'test' | 'exception' | 'diagnostic' | 'headline' | 'message' | 'line';

/**
 * One sentence that the failed step printed, with a weight (0..1) that says how likely it is about the
 * failure.
 */
export interface Fact {
  readonly origin: Origin;
  /** The text without colors and CI prefixes, at most 2,000 characters. */
  readonly text: string;
  readonly source: string | null;
  readonly line: number | null;
  readonly weight: number;
}

/** The input of the rules: all facts of a subject, and the three things that contradict INFRA_ERROR. */
export interface Facts {
  readonly subject: TriageSubject;
  readonly all: readonly Fact[];
  /** All lines of the excerpts, cleaned. Sentences may use them, but they do not decide. */
  readonly shown: string;
  /** A failed assertion about a value. */
  readonly assertion: Fact | null;
  /** Errors of compilers and type checkers in the project's own files. */
  readonly compileErrors: readonly Diagnostic[];
  /**
   * An exception with frames of the project that is not a symptom of the machine, the network or the set-up.
   */
  readonly productException: ThrownException | null;
}

const MAX_TEXT = 2000;
const MAX_DIAGNOSTICS = 60;
const MAX_LINES = 1500;

/** Reads all facts of a subject. Pure: the same subject gives the same list in the same order. */
export function readFacts(subject: TriageSubject): Facts {
  const shareAt = shareByLine(subject);
  const placed = (fact: Fact): Fact =>
    fact.source === null || fact.line === null || fact.origin === 'test'
      ? fact
      : { ...fact, weight: fact.weight * shareAt(fact.source, fact.line) };
  const structured = [...listExtractedFacts(subject).map(placed), ...listExitFacts(subject)];
  const all = [...structured, ...listLineFacts(subject).map(placed)].filter(
    (fact) => fact.text.trim() !== '',
  );
  return {
    subject,
    all,
    shown: listShownLines(subject).join('\n'),
    assertion:
      structured.find((fact) => isAssertion(fact, subject)) ?? findStatedExpectation(subject) ?? null,
    compileErrors: subject.diagnostics.filter((entry) => entry.severity === 'error' && isCompiler(entry)),
    productException: subject.exceptions.find(isProductException) ?? null,
  };
}

function isCompiler(entry: Diagnostic): boolean {
  return (
    COMPILERS.test(entry.tool) &&
    !isUninformative(entry.message) &&
    !NOT_COMPILED.test(entry.message) &&
    !ENVIRONMENT_WORDS.test(entry.message) &&
    !(entry.file !== null && isForeignPath(entry.file))
  );
}

/**
 * Messages in the form of a compiler error that are none: cargo and rustc report a source that they could not
 * fetch, the end of a crate, or a failed linker, whose reason follows; GoogleTest reports a failed
 * expectation.
 */
const NOT_COMPILED = new RegExp(
  String.raw`^(?:failed to (?:get|load source for|fetch|download|update|clone)\b|` +
    'could not compile `|linking with `|unable to update |' +
    String.raw`(?:[\w./+-]{1,200}:\d{1,6}: )?Failure$)`,
  'i',
);

function isAssertion(fact: Fact, subject: TriageSubject): boolean {
  if (ENVIRONMENT_WORDS.test(fact.text) || COMPILER_BEGINS.test(fact.text)) return false;
  if (fact.origin === 'message')
    return (
      subject.failingTests.length > 0 &&
      fact.weight > 0.5 &&
      ASSERTION_FAILED.test(fact.text) &&
      !isDiagnosed(fact, subject)
    );
  return ASSERTION_WORDS.test(fact.text) && !isThrown(fact.text) && !isDiagnosed(fact, subject);
}

/** Checks whether a text begins with an exception that is not an assertion: "AttributeError: …". */
export function isThrown(text: string): boolean {
  return (
    /^(?:\*\* \()?[\w.$:]{0,160}(?:Error|Exception)\b/.test(text) &&
    !/^[\w.$]{0,160}(?:Assertion|Comparison|Expectation|MultipleFailures|Failed)/i.test(text)
  );
}

function findStatedExpectation({ failingTests }: TriageSubject): Fact | undefined {
  // Playwright and others write "Error: " before the message of an expectation.
  const isStated = (message: string) => !isThrown(message.replace(/^Error: (?=\S)/, ''));
  const test = failingTests.find(
    (entry) => entry.expected !== null && entry.actual !== null && isStated(entry.message ?? ''),
  );
  return test === undefined
    ? undefined
    : createFact('test', test.message ?? `expected ${test.expected} but got ${test.actual}`, test.at);
}

function isProductException(entry: ThrownException): boolean {
  const words = `${entry.type}: ${entry.message} ${entry.chain.join(' ')}`;
  const isOurs = entry.frames.some((frame) => frame.own || isTestPath(frame.file));
  // A name that an installed package no longer has is a version conflict, whichever file imports it.
  if (/cannot import name .{1,200}(?:site|dist)-packages/.test(words)) return false;
  return isOurs && (asksWithoutEnd(entry) || !ENVIRONMENT_WORDS.test(words)) && !ASSERTION_WORDS.test(words);
}

/** Messages about a request for more memory than any machine has. */
const BOUNDLESS =
  /array size exceeds VM limit|Unable to allocate [\d.]{1,11} [TPE]i?B\b|Invalid (?:typed )?array length/i;
/** The number of frames of one own function from which a trace counts as a recursion. */
const RECURSION = 4;

/**
 * Checks whether the trace shows that the project's own code requested unlimited memory: more than any
 * machine has, or in a recursion.
 */
export function asksWithoutEnd({ message, frames }: ThrownException): boolean {
  if (BOUNDLESS.test(message)) return true;
  const ownFrames = frames.filter((frame) => frame.own);
  const byPlace = Map.groupBy(ownFrames, ({ file, line }) => `${file}:${line}`);
  return [...byPlace.values()].some(({ length }) => length >= RECURSION);
}

function createFact(origin: Origin, text: string, at: LogPosition | null, weight = 1): Fact {
  return {
    origin,
    text: text.slice(0, MAX_TEXT),
    source: at?.source ?? null,
    line: at?.line ?? null,
    weight,
  };
}

/**
 * Returns the facts that extractors read from tests, exceptions, diagnostics, headlines, and messages, in
 * this order.
 */
function listExtractedFacts({
  failingTests,
  exceptions,
  diagnostics,
  failures,
  messages,
}: TriageSubject): Fact[] {
  const errors = diagnostics.filter((entry) => entry.severity === 'error').slice(0, MAX_DIAGNOSTICS);
  return [
    ...failingTests
      .flatMap(({ message, at }) => (message === null ? [] : createFact('test', message, at)))
      .slice(0, MAX_DIAGNOSTICS),
    ...exceptions
      .slice(0, MAX_DIAGNOSTICS)
      .map(({ type, message, at }) => createFact('exception', `${type}: ${message}`, at)),
    ...errors.map(({ tool, code, message, at }) =>
      createFact('diagnostic', `${tool}: ${code === null ? '' : `${code}: `}${message}`, at),
    ),
    ...failures.map(({ message, excerpt }) => ({
      ...createFact('headline', message, null),
      source: excerpt?.source ?? null,
    })),
    ...messages.map(({ text, at }, rank) => createFact('message', text, at, rank === 0 ? 1 : 0.85)),
  ];
}

/** Returns the exits of processes as facts, in the words that the rules match. */
function listExitFacts({ exits }: TriageSubject): Fact[] {
  return exits.slice(-5).map((exit) => {
    const text =
      exit.signal === null
        ? exit.code === null
          ? ''
          : `exit code ${exit.code}`
        : `terminated by ${exit.signal}`;
    return createFact('message', text, exit, 0.85);
  });
}

/**
 * Returns lines of excerpts as facts. They weigh less than structured facts, less if the ranking considers
 * them uninformative, and less again outside the failed step. Only lines with the role of a cause are facts.
 */
function listLineFacts(subject: TriageSubject): Fact[] {
  // The output of a run that passed contains no cause.
  if (subject.hasPassed === true) return [];
  const hasCause = subject.messages.some(({ text }) => classifyRole(text) === 'cause');
  const facts: Fact[] = [];
  for (const excerpt of subject.excerpts) {
    const lines = excerpt.text.split('\n').map(formatShownLine);
    for (const [offset, text] of lines.entries()) {
      if (facts.length >= MAX_LINES) return facts;
      if (isTolerated(lines[offset + 1] ?? '')) continue;
      const line = excerpt.lineStart + offset;
      const role = classifyRole(text);
      if (role !== 'cause' && role !== 'wrapper' && (hasCause || role !== 'notice')) continue;
      const inside = isInsideFailedStep(subject, excerpt.source, line) ? 1 : 0.5;
      facts.push({ origin: 'line', text, source: excerpt.source, line, weight: 0.85 * inside });
    }
  }
  return facts;
}

/**
 * Creates a function that returns how informative a line is relative to the most informative one, 0..1. A
 * line has the value of the nearest message. All lines are equal if there are no messages.
 */
function shareByLine(subject: TriageSubject): (source: string, line: number) => number {
  if (subject.messages.length === 0) return () => 1;
  const shares = new Map<string, number>();
  for (const { at, weight } of subject.messages) {
    if (at === null) continue;
    for (let line = at.line - NEAR; line <= at.line + NEAR; line++) {
      const key = `${at.source}:${line}`;
      shares.set(key, Math.max(shares.get(key) ?? 0, BESIDE * computeShare(weight)));
    }
  }
  for (const { at, weight } of subject.messages)
    if (at !== null) shares.set(`${at.source}:${at.line}`, computeShare(weight));
  return (source, line) => shares.get(`${source}:${line}`) ?? LEAST;
}

/** The number of lines around a message that get its value. */
const NEAR = 3;
/** The factor for a line near a message, applied to the value of the message. */
const BESIDE = 0.8;
/** The value of a line that the ranking considers far less informative than the best one. */
const LEAST = 0.25;

function computeShare(weight: number): number {
  return LEAST + (1 - LEAST) * Math.min(1, weight / 100);
}

function listShownLines(subject: TriageSubject): string[] {
  const lines = subject.excerpts.flatMap(({ text }) => text.split('\n'));
  return lines.slice(0, MAX_LINES).map(formatShownLine);
}

function formatShownLine(raw: string): string {
  return cleanLine(stripEscapes(raw)).slice(0, MAX_TEXT);
}

function isInsideFailedStep(subject: TriageSubject, source: string, line: number): boolean {
  const sections = subject.failedSections.filter((section) => section.source === source);
  return (
    sections.length === 0 || sections.some((section) => line >= section.lineStart && line <= section.lineEnd)
  );
}

/**
 * The minimum length of a message that is searched in a sentence. A shorter one may be in any sentence by
 * chance.
 */
const SHORTEST = 6;

/**
 * Checks whether a compiler, bundler, or linter printed a fact. Then "Expected ) but found ;" is about source
 * code and not an assertion. Returns false for messages of failing tests, and for errors that a test
 * framework writes in the form of a compiler error.
 */
export function isDiagnosed(fact: Pick<Fact, 'text' | 'source' | 'line'>, subject: TriageSubject): boolean {
  if (BORROWED_FORM.test(fact.text)) return false;
  if (!subject.diagnostics.some((entry) => readsSource(entry) && isAbout(entry, fact))) return false;
  return !subject.failingTests.some(
    ({ message }) => message && (message.includes(fact.text) || fact.text.includes(message)),
  );
}

function readsSource({ tool, severity, column }: Diagnostic): boolean {
  if (severity !== 'error') return false;
  return LINTERS.test(tool) || BUNDLERS.test(tool) || (SOURCE_READERS.test(tool) && column !== null);
}

function isAbout({ message, at }: Diagnostic, fact: Pick<Fact, 'text' | 'source' | 'line'>): boolean {
  if (at !== null && at.source === fact.source && at.line === fact.line) return true;
  return message.length >= SHORTEST && fact.text.includes(message);
}

/** Messages of test frameworks about a failed assertion. */
export const ASSERTION_WORDS =
  /\bassert(?:ion)?(?:\s?error|failed|ionfailed| failed| failure)\b|AssertionFailedError|ComparisonFailure|\bMultipleFailuresError\b|\bassert_\w{2,40}:|\bpromise_rejects_\w{2,20}:|^E?\s*assert\b|\bexpect(?:ed)?\b[^\n]{0,200}\b(?:but|got|to (?:be|equal|have|contain|match|throw|include)|actual|received|was|found)\b|\bexpect\([^)\n]{0,80}\)\.|\bto(?:Equal|Be|StrictEqual|MatchSnapshot|Contain|Have\w{1,30})\(|ExpectationNotMet|left == right|\bAssertionError\b|DID NOT RAISE|\bnot equal\b|does not match (?:stored |the )?snapshot|ExpectationFailed/i;

/** Messages that point to the machine, the network or the set-up, even in an exception of product code. */
export const ENVIRONMENT_WORDS =
  /\bfetch failed\b|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENOSPC|EHOSTUNREACH|connection (?:refused|reset|timed out|closed)|connect(?:ion)? timed? ?out|UnknownHost|name or service not known|name resolution|no space left|out of ?memory|too many open files|\bEMFILE\b|\bENFILE\b|std::bad_alloc|NoMemoryError|terminated with signal 9|Killed signal terminated|compiler error: Killed|OutOfMemory|MemoryError|cannot allocate memory|\b50[234]\b[^\n]{0,40}(?:unavailable|gateway|error)|service unavailable|too many requests|rate limit|no such host|network is unreachable|operation not permitted|permission denied|EACCES|No such module|No module named|Cannot find module|ModuleNotFound|NoSuchMethodError|NoClassDefFoundError|ClassNotFoundException|cannot open shared object|hudson\.|Backing channel/i;

/** The narrower form for lines that no extractor attributes to a test. */
const ASSERTION_FAILED =
  /\bAssertion(?:Failed)?Error\b|assertion `?(?:left|failed)|assertion failed|\bexpected\b.{1,160}\bbut (?:was|got|received|found)\b/i;

/**
 * Beginnings of messages of compilers and parsers. "Expected but found" in such a message is not an
 * assertion.
 */
export const COMPILER_BEGINS =
  /^(?:[✘X] \[ERROR\] |(?:Parse|Parsing|Syntax) ?[Ee]rror\b|\S{1,300}:\d{1,6}:\d{1,6}: error: )/;

/** Tools that only read source code. What they expect is not an assertion. */
const SOURCE_READERS =
  /^(?:javac|kotlinc?|scalac?|groovyc|tsc|typescript|vue-tsc|gcc|g\+\+|cc|clang|clang\+\+|c\+\+|msvc|cl|csc|swiftc?|rustc?|ghc|compiler|mypy|pyright|flow|babel|esbuild|webpack|rollup|vite)\b/i;

/** Bundlers, whose format no test framework uses, with a column or without. */
const BUNDLERS = /^(?:babel|esbuild|webpack|rollup|vite)\b/i;

/** Messages that test frameworks write in the form of a compiler error. */
const BORROWED_FORM =
  /\bXCTAssert|\bhas failed\b|\bassert(?:ion)?\w{0,20} failed\b|\bExpectation failed\b|\bAssertion(?:Failed)?Error\b/i;
