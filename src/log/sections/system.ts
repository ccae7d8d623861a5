import type { Section } from '../../domain/failure.ts';
import { findFirstPlace } from '../../lib/collections.ts';
import type { LogText } from '../lines/lines.ts';

/** A line that holds one of a system's literals, as a person saw it. */
export interface Mark {
  readonly line: number;
  readonly text: string;
}

/** Lines from `start` to `end`, both with them. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

/** Checks whether a line lies in one of the ranges, which ascend. */
export function isWithin(ranges: readonly LineRange[], line: number): boolean {
  const first = findFirstPlace(ranges.length, (place) => (ranges[place]?.end ?? 0) < line);
  return (ranges[first]?.start ?? Number.POSITIVE_INFINITY) <= line;
}

/** The information of one system's marks about a log. */
export interface SystemReading {
  /** The steps that turned their jobs red, in the order of the log, and those that only failed for it. */
  readonly failed: readonly Section[];
  /** True if the system marks steps, failed or not; absent for a system that marks none. */
  readonly hasSteps?: boolean;
  /** Commands echoed before their output. */
  readonly echoes?: readonly LineRange[];
  /** The ranges of the jobs of the log; absent if the log is a single job. */
  readonly jobs?: readonly LineRange[];
}

/** Reads the marks that one CI system leaves in its logs. */
export interface CiSystem {
  /** ASCII literals, case ignored, rare on ordinary lines. */
  readonly literals: readonly string[];
  /**
   * Reads the marks of a log. Returns null if the log is not of this system. `marks` are the lines with
   * literals of any system, ascending. Looks at a bounded stretch around each; must not throw.
   */
  readonly read: (log: LogText, marks: readonly Mark[]) => SystemReading | null;
}

/** Names that people and systems give to steps that run when everything has been decided. */
const CLEAN_UP = new RegExp(
  String.raw`\b(?:upload|artifacts?|publish|test[ -]report(?:er)?|upload coverage|codecov|coveralls|` +
    'notify|notifications?|slack|clean ?up|tear ?down|after[_ ](?:script|failure)|' +
    String.raw`post_build|pre-exit hook|post actions|post job)\b|^Post `,
  'i',
);

/** Checks whether a step only cleans up, publishes or reports, whatever happened before it. */
export function isCleanUp(name: string): boolean {
  return CLEAN_UP.test(name);
}

/** Creates a failed section. Its name may be a path, outermost first: `['Test', 'Run unit tests']`. */
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

/**
 * Marks sections that only clean up, publish or report after the first one had failed: what they say follows
 * from it.
 */
export function withConsequences(sections: readonly Section[]): Section[] {
  return sections.map((section, i) =>
    i > 0 && isCleanUp(section.name) ? { ...section, consequence: true } : section,
  );
}

/**
 * One TeamCity service message, with its values unescaped. A message of a single value has it under the empty
 * name.
 */
export interface ServiceMessage {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

const HEAD = /##teamcity\[(\w{1,60})(?= |\])/;
/**
 * `|'` and `||` are escaped inside a value, so that a value ends at the first quote without `|` before it.
 */
const ATTRIBUTE = /(?<= )(?:(\w{1,60}) ?= ?)?'((?:[^'|]|\|.){0,20000})'/gs;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', x: '\u0085', l: '\u2028', p: '\u2029' };

/** Reads the service message that a line holds, wherever in the line it starts; null if it holds none. */
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
