import type { Diagnostic, ThrownException } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import { roleOf, saysNothing } from '../log/roles.ts';
import { isDiagnosed } from './diagnosed.ts';
import { isForeignPath, isTestPath } from './paths.ts';
import { ASSERTION_FAILED, ASSERTION_WORDS, COMPILER_BEGINS, COMPILERS, ENVIRONMENT_WORDS } from './vocabulary.ts';

/** Where a fact was read from: the structured extractors first, bare excerpt lines last. */
export type Origin = 'test' | 'exception' | 'diagnostic' | 'headline' | 'message' | 'line';

/** One sentence that the failing step printed, with how much it may be trusted to be about the failure (0..1). */
export interface Fact {
  readonly origin: Origin;
  /** Without colours and CI prefixes, at most 2,000 characters. */
  readonly text: string;
  readonly source: string | null;
  readonly line: number | null;
  readonly weight: number;
}

/** What the rules look at: the subject's facts in one list, and the three things that speak against INFRA_ERROR. */
export interface Facts {
  readonly subject: TriageSubject;
  readonly all: readonly Fact[];
  /** Every line of the excerpts, as a person saw it: what the wording draws on, not what decides. */
  readonly shown: string;
  /** A failed expectation about a value. */
  readonly assertion: Fact | null;
  /** Errors of compilers and type checkers in our own files. */
  readonly compileErrors: readonly Diagnostic[];
  /** An exception with frames of our own that is no symptom of machine, network or set-up. */
  readonly productException: ThrownException | null;
}

const MAX_TEXT = 2000;
const MAX_DIAGNOSTICS = 60;
const MAX_LINES = 1500;

/** Reads all facts of a subject; pure, the same subject gives the same list in the same order. */
export function readFacts(subject: TriageSubject): Facts {
  const telling = tellingLines(subject);
  const placed = (fact: Fact): Fact =>
    fact.source === null || fact.line === null || fact.origin === 'test'
      ? fact
      : { ...fact, weight: fact.weight * telling(fact.source, fact.line) };
  const structured = [
    ...[...testFacts(subject), ...exceptionFacts(subject), ...diagnosticFacts(subject), ...messageFacts(subject)].map(placed),
    ...exitFacts(subject),
  ];
  const all = [...structured, ...lineFacts(subject).map(placed)].filter((fact) => fact.text.trim() !== '');
  return {
    subject,
    all,
    shown: shownLines(subject).join('\n'),
    assertion: structured.find((fact) => isAssertion(fact, subject)) ?? statedExpectation(subject) ?? null,
    compileErrors: subject.diagnostics.filter((entry) => entry.severity === 'error' && isCompiler(entry)),
    productException: subject.exceptions.find(isProductException) ?? null,
  };
}

function isCompiler(entry: Diagnostic): boolean {
  return (
    COMPILERS.test(entry.tool) &&
    !saysNothing(entry.message) &&
    !ENVIRONMENT_WORDS.test(entry.message) &&
    !(entry.file !== null && isForeignPath(entry.file))
  );
}

function isAssertion(fact: Fact, subject: TriageSubject): boolean {
  if (ENVIRONMENT_WORDS.test(fact.text) || COMPILER_BEGINS.test(fact.text)) return false;
  if (fact.origin === 'message')
    return subject.failingTests.length > 0 && fact.weight > 0.5 && ASSERTION_FAILED.test(fact.text) && !isDiagnosed(fact, subject);
  return ASSERTION_WORDS.test(fact.text) && !isThrown(fact.text) && !isDiagnosed(fact, subject);
}

/** Whether a text begins with an exception that is no assertion: "AttributeError: …". */
export function isThrown(text: string): boolean {
  return (
    /^[\w.$]{0,160}(?:Error|Exception)\b/.test(text) &&
    !/^[\w.$]{0,160}(?:Assertion|Comparison|Expectation|MultipleFailures|Failed)/i.test(text)
  );
}

function statedExpectation(subject: TriageSubject): Fact | undefined {
  const test = subject.failingTests.find((entry) => entry.expected !== null && entry.actual !== null && !isThrown(entry.message ?? ''));
  if (test === undefined) return undefined;
  const text = test.message ?? `expected ${test.expected} but got ${test.actual}`;
  return { origin: 'test', text: cut(text), source: test.at?.source ?? null, line: test.at?.line ?? null, weight: 1 };
}

function isProductException(entry: ThrownException): boolean {
  const words = `${entry.type}: ${entry.message} ${entry.chain.join(' ')}`;
  // Memory that our own frames ask for without end is a fault of ours until somebody shows otherwise.
  const told = words.replace(/OutOfMemoryError|MemoryError/g, '');
  // A name that a package no longer has is a matter of versions, whoever imports it.
  if (/cannot import name .{1,200}(?:site|dist)-packages/.test(words)) return false;
  return entry.frames.some((frame) => frame.own || isTestPath(frame.file)) && !ENVIRONMENT_WORDS.test(told) && !ASSERTION_WORDS.test(words);
}

function testFacts(subject: TriageSubject): Fact[] {
  const facts: Fact[] = [];
  for (const test of subject.failingTests) {
    if (test.message === null) continue;
    facts.push({ origin: 'test', text: cut(test.message), source: test.at?.source ?? null, line: test.at?.line ?? null, weight: 1 });
  }
  return facts.slice(0, MAX_DIAGNOSTICS);
}

function exceptionFacts(subject: TriageSubject): Fact[] {
  return subject.exceptions.slice(0, MAX_DIAGNOSTICS).map((entry) => ({
    origin: 'exception',
    text: cut(`${entry.type}: ${entry.message}`),
    source: entry.at?.source ?? null,
    line: entry.at?.line ?? null,
    weight: 1,
  }));
}

function diagnosticFacts(subject: TriageSubject): Fact[] {
  const errors = subject.diagnostics.filter((entry) => entry.severity === 'error').slice(0, MAX_DIAGNOSTICS);
  return errors.map((entry) => ({
    origin: 'diagnostic',
    text: cut(`${entry.tool}: ${entry.code === null ? '' : `${entry.code}: `}${entry.message}`),
    source: entry.at?.source ?? null,
    line: entry.at?.line ?? null,
    weight: 1,
  }));
}

function messageFacts(subject: TriageSubject): Fact[] {
  const facts: Fact[] = subject.failures.map((failure) => ({
    origin: 'headline',
    text: cut(failure.message),
    source: failure.excerpt?.source ?? null,
    line: null,
    weight: 1,
  }));
  for (const [rank, message] of subject.messages.entries()) {
    const at = { source: message.at?.source ?? null, line: message.at?.line ?? null };
    facts.push({ origin: 'message', text: cut(message.text), ...at, weight: rank === 0 ? 1 : 0.85 });
  }
  return facts;
}

/** How processes ended, in the words the rules look for. */
function exitFacts(subject: TriageSubject): Fact[] {
  return subject.exits.slice(-5).flatMap((exit) => {
    const text = exit.signal === null ? (exit.code === null ? '' : `exit code ${exit.code}`) : `terminated by ${exit.signal}`;
    return [{ origin: 'message' as const, text, source: exit.source, line: exit.line, weight: 0.85 }];
  });
}

/**
 * Excerpt lines weigh less than structured facts, less where the reader takes them to tell little, and less again outside the failed step.
 * Only possible causes are facts.
 */
function lineFacts(subject: TriageSubject): Fact[] {
  const hasCause = subject.messages.some(({ text }) => roleOf(text) === 'cause');
  const facts: Fact[] = [];
  for (const excerpt of subject.excerpts) {
    for (const [offset, raw] of excerpt.text.split('\n').entries()) {
      if (facts.length >= MAX_LINES) return facts;
      const line = excerpt.lineStart + offset;
      const text = cut(cleanLine(stripEscapes(raw)));
      const role = roleOf(text);
      if (role !== 'cause' && role !== 'wrapper' && (hasCause || role !== 'notice')) continue;
      const inside = insideFailedStep(subject, excerpt.source, line) ? 1 : 0.5;
      facts.push({ origin: 'line', text, source: excerpt.source, line, weight: 0.85 * inside });
    }
  }
  return facts;
}

/** How much a line tells beside the most telling one, 0..1: that of the nearest message. All tell alike where there are no messages. */
function tellingLines(subject: TriageSubject): (source: string, line: number) => number {
  if (subject.messages.length === 0) return () => 1;
  const shares = new Map<string, number>();
  for (const { at, weight } of subject.messages) {
    if (at === null) continue;
    for (let line = at.line - NEAR; line <= at.line + NEAR; line++) {
      const key = `${at.source}:${line}`;
      shares.set(key, Math.max(shares.get(key) ?? 0, BESIDE * shareOf(weight)));
    }
  }
  for (const { at, weight } of subject.messages) if (at !== null) shares.set(`${at.source}:${at.line}`, shareOf(weight));
  return (source, line) => shares.get(`${source}:${line}`) ?? LEAST;
}

/** Lines around a message that are told with it. */
const NEAR = 3;
/** What a line has of the share of a message beside it, where it is none itself. */
const BESIDE = 0.8;
/** What a line is worth that the reader ranks far below the most telling one. */
const LEAST = 0.25;

function shareOf(weight: number): number {
  return LEAST + (1 - LEAST) * Math.min(1, weight / 100);
}

function shownLines(subject: TriageSubject): string[] {
  const lines = subject.excerpts.flatMap(({ text }) => text.split('\n'));
  return lines.slice(0, MAX_LINES).map((raw) => cut(cleanLine(stripEscapes(raw))));
}

function insideFailedStep(subject: TriageSubject, source: string, line: number): boolean {
  const sections = subject.failedSections.filter((section) => section.source === source);
  return sections.length === 0 || sections.some((section) => line >= section.lineStart && line <= section.lineEnd);
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text;
}
