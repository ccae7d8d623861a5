import type { Diagnostic, ErrorMessage, ExitMark, FailingTest, ThrownException } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';

/** Lines that belong together and tell something. Lines are 1-based and inclusive. */
export interface Block {
  readonly start: number;
  readonly end: number;
  /** 0..100, higher is more telling. */
  readonly weight: number;
  /** For people: "pytest failure". */
  readonly reason: string;
  /** True where the block is a single line found by a general phrase: the lines around it may say more, and many of them say less. */
  readonly loose?: boolean;
  /** True where the last lines matter most: filled from its end when it does not fit whole. */
  readonly fromEnd?: boolean;
}

/** What extractors have found in one log so far; they add to it. */
export interface Extraction {
  readonly blocks: Block[];
  readonly failingTests: FailingTest[];
  readonly diagnostics: Diagnostic[];
  readonly exceptions: ThrownException[];
  readonly messages: ErrorMessage[];
  readonly exits: ExitMark[];
  readonly toolchains: Set<string>;
  /** Tools that the readers by shape do not know by name, to measure what the names are worth. */
  readonly leftOut: ReadonlySet<string>;
}

/** Reads the output of one family of tools. */
export interface Extractor {
  /** The family's name; also the toolchain it reports. */
  readonly name: string;
  /** ASCII literals, case ignored. Only lines that hold one of them are given to `extract`: anything dearer is asked of these lines alone. */
  readonly literals: readonly string[];
  /** Adds what it finds. `lines` are the candidate lines, ascending. Must not throw, and must look at a bounded stretch around each. */
  readonly extract: (log: LogText, lines: readonly number[], found: Extraction) => void;
}

/** An empty extraction; `leftOut` as in {@link Extraction}. */
export function newExtraction(leftOut: ReadonlySet<string> = new Set()): Extraction {
  return { blocks: [], failingTests: [], diagnostics: [], exceptions: [], messages: [], exits: [], toolchains: new Set(), leftOut };
}

/** A failing test with everything unknown but what is given. */
export function failingTest(
  log: LogText,
  line: number,
  framework: string,
  known: Pick<FailingTest, 'name'> & Partial<FailingTest>,
): FailingTest {
  const empty = { suite: null, file: null, line: null, message: null, expected: null, actual: null };
  return { ...empty, framework, at: { source: log.name, line }, ...known };
}

/** The last line of a block that starts at `start`: goes on while `belongs` holds, at most `limit` lines. */
export function blockEnd(log: LogText, start: number, limit: number, belongs: (line: string, number: number) => boolean): number {
  let end = start;
  const last = Math.min(log.lineCount, start + limit);
  while (end < last && belongs(log.line(end + 1), end + 1)) end++;
  return end;
}
