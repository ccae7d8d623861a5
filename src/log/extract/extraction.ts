import type {
  Diagnostic,
  ErrorMessage,
  FailingTest,
  LogPosition,
  LogRange,
  StackFrame,
  ThrownException,
} from '../../domain/failure.ts';
import { append } from '../../lib/collections.ts';
import { normalizeMessage } from '../fingerprint/normalize.ts';
import type { LogText } from '../lines/lines.ts';
import { isFile } from './tools/place.ts';

/** Lines that belong together and are informative. Lines are 1-based and inclusive. */
export interface Block {
  readonly start: number;
  readonly end: number;
  /** Weight from 0 to 100; higher is more informative. */
  readonly weight: number;
  /** The reason shown to people, for example "pytest failure". */
  readonly reason: string;
  /**
   * True if the block is a single line found by a general phrase. The lines around it may say more, but many
   * of them say less.
   */
  readonly loose?: boolean;
  /** True if the last lines matter most. A block that does not fit whole is then filled from its end. */
  readonly fromEnd?: boolean;
}

/** The findings of all extractors in one log. */
export interface Extraction {
  readonly blocks: readonly Block[];
  readonly failingTests: readonly FailingTest[];
  readonly diagnostics: readonly Diagnostic[];
  readonly exceptions: readonly ThrownException[];
  readonly messages: readonly ErrorMessage[];
  readonly toolchains: ReadonlySet<string>;
}

/** Reads the output of one family of tools. */
export interface Extractor {
  /** The family's name; also the toolchain it reports. */
  readonly name: string;
  /**
   * Literals, case ignored. Only lines that contain one of them are given to `extract`, so that expensive
   * checks run on few lines.
   */
  readonly literals: readonly string[];
  /**
   * Adds what it finds to `found`. `lines` are the candidate lines, ascending. Must not throw, and must read
   * only a bounded number of lines around each.
   */
  readonly extract: (log: LogText, lines: readonly number[], found: Findings) => void;
}

/** The maximum number of findings of one tool and severity that are kept. */
const MAX_KEPT = 200;
const WARNING_WEIGHT = 12;

/** The matches of a pattern's named groups. */
export type Groups = Readonly<Record<string, string | undefined>>;

/**
 * Collects what extractors find in one log. `leftOut` names tools that must not be recognized by name, to
 * measure how much the names contribute.
 */
export class Findings implements Extraction {
  readonly blocks: Block[] = [];
  readonly failingTests: FailingTest[] = [];
  readonly diagnostics: Diagnostic[] = [];
  readonly exceptions: ThrownException[] = [];
  readonly messages: ErrorMessage[] = [];
  readonly toolchains = new Set<string>();
  readonly leftOut: ReadonlySet<string>;
  /** Lines that belong to an error message of the shell. */
  readonly complaints = new Set<number>();
  readonly #source: string;
  readonly #taken = new Set<number>();
  readonly #counts = new Map<string, number>();

  constructor(source: string, leftOut: ReadonlySet<string> = new Set()) {
    this.#source = source;
    this.leftOut = leftOut;
  }

  /** Returns the number of tests, diagnostics and exceptions found so far. */
  get size(): number {
    return this.failingTests.length + this.diagnostics.length + this.exceptions.length;
  }

  block(start: number, end: number, weight: number, reason: string): void {
    this.blocks.push({ start, end, weight, reason });
  }

  /** Adds a line found by a general phrase. The block begins at `start` if lines above belong to it. */
  looseLine(line: number, weight: number, reason: string, start = line): void {
    this.blocks.push({ start, end: line, weight, reason, loose: true });
  }

  message(line: number, text: string, weight: number): void {
    this.messages.push({ text: text.slice(0, 500), at: { source: this.#source, line }, weight });
  }

  /** Adds a failing test. Facts that `known` lacks are null. Returns the index of the test. */
  test(line: number, framework: string, known: Pick<FailingTest, 'name'> & Partial<FailingTest>): number {
    return this.failingTests.push(this.testAt(line, framework, known)) - 1;
  }

  testAt(
    line: number,
    framework: string,
    known: Pick<FailingTest, 'name'> & Partial<FailingTest>,
  ): FailingTest {
    const empty = { suite: null, file: null, line: null, message: null, expected: null, actual: null };
    return {
      ...empty,
      framework,
      at: { source: this.#source, line },
      spans: [this.range(line, line)],
      ...known,
    };
  }

  /** Returns the lines `start` to `end` of this log as a range. */
  range(start: number, end: number): LogRange {
    return { source: this.#source, lineStart: start, lineEnd: end };
  }

  /** Adds another block of lines to the failing test at `index`. */
  addSpan(index: number, start: number, end: number): void {
    const test = this.failingTests[index];
    if (test !== undefined)
      this.failingTests[index] = { ...test, spans: [...(test.spans ?? []), this.range(start, end)] };
  }

  exception(
    line: number,
    type: string,
    message: string,
    frames: readonly StackFrame[],
    more: Partial<Pick<ThrownException, 'chain' | 'outerFrames'>> = {},
  ): void {
    this.exceptions.push({
      type,
      message: message.slice(0, 500),
      chain: [type],
      frames: [...frames],
      ...more,
      at: { source: this.#source, line },
    });
  }

  /** Checks whether a finding has already taken the line. */
  isTaken(line: number): boolean {
    return this.#taken.has(line);
  }

  /** Marks these lines as read, so that later readers skip them. */
  take(start: number, end: number): void {
    for (let line = start; line <= end; line++) this.#taken.add(line);
  }

  /**
   * Returns the weight of the next finding of a tool; later findings weigh less. Returns null if the tool has
   * reached its limit.
   */
  weigh(tool: string, severity: Diagnostic['severity'], weight: number): number | null {
    const key = `${tool} ${severity}`;
    const before = this.#counts.get(key) ?? 0;
    this.#counts.set(key, before + 1);
    return before < MAX_KEPT ? computeWeight(severity, weight, before) : null;
  }

  /**
   * Adds a finding as data and as a block, unless its tool has reached the limit. `weight` is the weight of
   * the tool's first finding.
   */
  finding({
    start,
    end,
    weight: most,
    tool,
    severity,
    ...said
  }: Omit<Diagnostic, 'at'> & Pick<Block, 'start' | 'end' | 'weight'>): void {
    const weight = this.weigh(tool, severity, most);
    this.take(start, end);
    if (weight === null) return;
    // Formatters print only the name of the file.
    const file = said.file ?? (isFile(said.message) && !/\s/.test(said.message) ? said.message : null);
    const at = { source: this.#source, line: start };
    this.diagnostics.push({ tool, severity, ...said, file, message: said.message.slice(0, 500), at });
    this.block(start, end, weight, `${tool} ${severity}`);
  }

  /**
   * Moves diagnostics that repeat an earlier message for another place to the end, so that a truncated list
   * still shows each message once. Considers the diagnostics from index `from` on.
   */
  putRepeatsLast(from: number): void {
    const seen = new Set<string>();
    const [firsts, repeats]: [Diagnostic[], Diagnostic[]] = [[], []];
    for (const diagnostic of this.diagnostics.splice(from)) {
      const key = `${diagnostic.severity} ${diagnostic.code} ${normalizeMessage(diagnostic.message)}`;
      (seen.has(key) ? repeats : firsts).push(diagnostic);
      seen.add(key);
    }
    append(this.diagnostics, [...firsts, ...repeats]);
  }
}

/** Returns the weight of a finding that comes after `count` others. */
export function computeWeight(severity: Diagnostic['severity'], weight: number, count: number): number {
  return severity === 'warning' ? WARNING_WEIGHT : weight - Math.min(count, 30) * 0.2;
}

/** Returns a copy of the findings in which `change` has replaced each list of findings that have a line. */
export function withLists(
  found: Extraction,
  change: <T extends { readonly at: LogPosition | null }>(all: readonly T[]) => T[],
): Extraction {
  const lists = { failingTests: change(found.failingTests), diagnostics: change(found.diagnostics) };
  return { ...found, ...lists, exceptions: change(found.exceptions), messages: change(found.messages) };
}

/** Checks whether anything was found at all. */
export function hasFindings(
  found: Pick<Extraction, 'failingTests' | 'diagnostics' | 'exceptions' | 'messages'>,
): boolean {
  return (
    found.failingTests.length + found.diagnostics.length + found.exceptions.length + found.messages.length > 0
  );
}
