import type { Section } from '../../domain/failure.ts';
import { findFirstPlace } from '../../lib/collections.ts';
import type { LogText } from '../lines/lines.ts';

/** A line that contains one of a system's literals, cleaned. */
export interface Mark {
  readonly line: number;
  readonly text: string;
}

/** The lines from `start` to `end`, both included. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

/** Checks whether one of the ranges contains a line. The ranges must ascend. */
export function isWithin(ranges: readonly LineRange[], line: number): boolean {
  const first = findFirstPlace(ranges.length, (place) => (ranges[place]?.end ?? 0) < line);
  return (ranges[first]?.start ?? Number.POSITIVE_INFINITY) <= line;
}

/** The information from one system's markers about a log. */
export interface SystemReading {
  /** The steps that failed their jobs, in the order of the log, and steps that failed as a consequence. */
  readonly failed: readonly Section[];
  /** True if the system marks steps, whether failed or not. Absent if it does not mark steps. */
  readonly hasSteps?: boolean;
  /** Commands that are echoed before their output. */
  readonly echoes?: readonly LineRange[];
  /** The ranges of the log's jobs. Absent if the log is a single job. */
  readonly jobs?: readonly LineRange[];
}

/** A CI system, with a reader of its markers. */
export interface CiSystem {
  /** Literals, case ignored, that are rare on ordinary lines. */
  readonly literals: readonly string[];
  /**
   * Reads the markers of a log. `marks` are the lines with literals of any system, ascending. Returns null if
   * the log is not of this system. Must read only a bounded number of lines around each marker, and must not
   * throw.
   */
  readonly read: (log: LogText, marks: readonly Mark[]) => SystemReading | null;
}

/** Names of steps that run regardless of the result. */
const CLEAN_UP = new RegExp(
  String.raw`\b(?:upload|artifacts?|publish|test[ -]report(?:er)?|upload coverage|codecov|coveralls|` +
    'notify|notifications?|slack|clean ?up|tear ?down|after[_ ](?:script|failure)|' +
    String.raw`post_build|pre-exit hook|post actions|post job)\b|^Post `,
  'i',
);

/** Checks whether a step only cleans up, publishes or reports, regardless of the result of others. */
export function isCleanUp(name: string): boolean {
  return CLEAN_UP.test(name);
}

/** Creates a failed section. Its name is a path, outermost first: `['Test', 'Run unit tests']`. */
export function createFailedSection(
  log: LogText,
  path: readonly string[],
  lineStart: number,
  lineEnd: number,
): Section {
  const name = [...new Set(path.map((part) => part.trim().slice(0, 120)).filter((part) => part !== ''))].join(
    ' / ',
  );
  return {
    source: log.name,
    name: name === '' ? 'log' : name,
    lineStart: Math.max(1, Math.min(lineStart, lineEnd)),
    lineEnd,
    failed: true,
  };
}

/** Marks sections after the first one that only clean up, publish or report as consequences of it. */
export function withConsequences(sections: readonly Section[]): Section[] {
  return sections.map((section, i) =>
    i > 0 && isCleanUp(section.name) ? { ...section, consequence: true } : section,
  );
}

/**
 * A TeamCity service message with its values unescaped. If a message has a single value, its name is empty.
 */
export interface ServiceMessage {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

const HEAD = /##teamcity\[(\w{1,60})(?= |\])/;
/**
 * An attribute of a service message. `|'` and `||` are escapes, so a value ends at the first quote without
 * `|` before it.
 */
const ATTRIBUTE = /(?<= )(?:(\w{1,60}) ?= ?)?'((?:[^'|]|\|.){0,20000})'/gs;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', x: '\u0085', l: '\u2028', p: '\u2029' };

/** Reads the service message on a line, wherever it begins. Returns null if there is none. */
export function readServiceMessage(line: string): ServiceMessage | null {
  const head = HEAD.exec(line);
  if (head === null) return null;
  const rest = line.slice(head.index + head[0].length);
  const attributes = new Map(
    Array.from(rest.matchAll(ATTRIBUTE), ([, name = '', value = '']) => [name, decodeEscapes(value)]),
  );
  return { name: head[1] ?? '', attributes };
}

/** Decodes `|n`, `|r`, `||`, `|'`, `|[`, `|]` and `|0x00e9`. */
function decodeEscapes(value: string): string {
  return value.replace(
    /\|(?:0x([0-9a-fA-F]{4})|(.))/gs,
    (_, code: string | undefined, sign: string | undefined) =>
      code === undefined
        ? (ESCAPED[sign ?? ''] ?? sign ?? '')
        : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
