import type { SourceText, TestResult } from '../domain/build.ts';
import type { Diagnostic, ErrorMessage } from '../domain/failure.ts';
import type { Reading } from '../domain/reading.ts';
import { foldReturns, isOverwritten, splitReturns } from './carriage-returns.ts';
import type { Block, Extraction } from './extract/extraction.ts';
import { extractAll, extractorAutomaton, linesOf } from './extract/run.ts';
import { failuresOf } from './failures.ts';
import { knownLines } from './green-diff.ts';
import { parseJUnit } from './junit.ts';
import type { LogText } from './lines.ts';
import { openLog, plainText } from './lines.ts';
import { mergeTests } from './merge-tests.ts';
import { reduceLogs } from './reduce.ts';
import { scanText } from './scan.ts';
import type { Structure } from './sections.ts';
import { readStructure, STRUCTURE_LITERALS } from './sections.ts';
import { weighBlocks } from './weigh.ts';

/** How to read a build's sources. */
export interface ReadOptions {
  /** All excerpts together hold at most this many tokens. */
  readonly budgetTokens: number;
  /** The log of a green build of the same job: what it also says is no evidence. */
  readonly greenText?: string;
  /** How many secrets were hidden in the sources, for the record. */
  readonly maskedSecrets?: number;
}

interface ReadLog {
  readonly log: LogText;
  readonly found: Extraction;
  readonly structure: Structure;
  readonly blocks: readonly Block[];
}

const MAX_MESSAGES = 50;

/** Reads all masked logs and reports of one build. Deterministic; never throws on any text. */
export function readSources(sources: readonly SourceText[], options: ReadOptions): Reading {
  const isKnown = options.greenText === undefined ? () => false : knownLines(options.greenText);
  const reports = sources.filter(({ kind }) => kind === 'report').map(({ name, text }) => parseJUnit(name, text));
  const logs = sources.filter(({ kind }) => kind === 'log').map((source) => readLog(source, isKnown));
  const { excerpts, tokens } = reduceLogs(logs, options.budgetTokens);
  const all = <K extends 'diagnostics' | 'exceptions'>(key: K) => logs.flatMap(({ found }) => found[key] as Extraction[K][number][]);
  const partial: Omit<Reading, 'fingerprint' | 'generic'> = {
    excerpts: [...excerpts],
    tokens,
    failingTests: mergeTests(
      reports.flatMap(({ failingTests }) => failingTests),
      logs.flatMap(({ found }) => found.failingTests),
    ),
    testResults: reports.flatMap(({ testResults }): readonly TestResult[] => testResults),
    diagnostics: oneALine(all('diagnostics')),
    exceptions: all('exceptions'),
    messages: tellingFirst(logs.flatMap(({ found }) => found.messages)),
    exits: logs.flatMap(({ structure }) => structure.exits),
    failedSections: logs.flatMap(({ structure }) => structure.failedSections),
    toolchains: [...new Set(logs.flatMap(({ found }) => [...found.toolchains]))].sort(),
    sources: sources.map(({ name, text }) => ({ name, lines: countLines(text), bytes: Buffer.byteLength(text) })),
    maskedSecrets: options.maskedSecrets ?? 0,
    notes: [...sources.flatMap(({ notes }) => notes), ...reports.flatMap(({ notes }) => notes)],
  };
  if (isSilent(partial)) partial.notes.push('No error was found in the logs and reports.');
  return withFingerprint(partial);
}

function isSilent(reading: Pick<Reading, 'failingTests' | 'diagnostics' | 'exceptions' | 'messages'>): boolean {
  return [reading.failingTests, reading.diagnostics, reading.exceptions, reading.messages].every(({ length }) => length === 0);
}

function withFingerprint(partial: Omit<Reading, 'fingerprint' | 'generic'>): Reading {
  const unknown = { algorithm: '', version: 0, value: '' };
  const [first] = failuresOf({ ...partial, fingerprint: unknown, generic: true });
  return { ...partial, fingerprint: first?.fingerprint ?? unknown, generic: first?.generic ?? true };
}

function readLog(source: SourceText, isKnown: (line: string) => boolean): ReadLog {
  const read = readLines(source, isKnown);
  return isOverwritten(source.text) ? { ...read, found: foldReturns(readLines(splitReturns(source), isKnown).found, source) } : read;
}

function readLines(source: SourceText, isKnown: (line: string) => boolean): ReadLog {
  const plain = plainText(source.text);
  const scan = scanText(plain, extractorAutomaton());
  const log = openLog(source, plain, scan);
  const found = extractAll(log, scan);
  const structure = readStructure(log, linesOf(scan, STRUCTURE_LITERALS));
  return { log, found, structure, blocks: weighBlocks(log, found.blocks, structure, isKnown) };
}

function tellingFirst(messages: readonly ErrorMessage[]): ErrorMessage[] {
  const seen = new Set<string>();
  const unique = messages.filter(({ text }) => !seen.has(text) && seen.add(text));
  return unique.sort((a, b) => b.weight - a.weight).slice(0, MAX_MESSAGES);
}

/** Two readers may know the same line: the more specific one comes first. */
function oneALine(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter(({ at }) => at === null || (!seen.has(`${at.source}:${at.line}`) && seen.add(`${at.source}:${at.line}`)));
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}
