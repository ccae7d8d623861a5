import type { Section } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';

/** A line that holds one of a system's literals, as a person saw it. */
export interface Mark {
  readonly line: number;
  readonly text: string;
}

/** Reads the marks that one CI system leaves in its logs. */
export interface CiSystem {
  readonly name: string;
  /** ASCII literals, case ignored, rare on ordinary lines. */
  readonly literals: readonly string[];
  /**
   * The steps that failed, in the order of the log; empty where nothing failed or the log is not of this system. `marks` are the lines
   * with literals of any system, ascending. Looks at a bounded stretch around each; must not throw.
   */
  readonly failures: (log: LogText, marks: readonly Mark[]) => readonly Section[];
}

/** What runs when everything has been decided, by the names that people and systems give it. */
const CLEAN_UP =
  /\b(?:upload|artifacts?|publish|test[ -]report(?:er)?|upload coverage|codecov|coveralls|notify|notifications?|slack|clean ?up|tear ?down|after[_ ](?:script|failure)|pre-exit hook|post actions|post job)\b/i;

/** A failed section. Its name may be a path, outermost first: `['Test', 'Run unit tests']`. */
export function failedSection(log: LogText, path: readonly string[], lineStart: number, lineEnd: number): Section {
  const name = [...new Set(path.map((part) => part.trim().slice(0, 120)).filter((part) => part !== ''))].join(' / ');
  return {
    source: log.name,
    name: name === '' ? 'log' : name,
    lineStart: Math.max(1, Math.min(lineStart, lineEnd)),
    lineEnd,
    failed: true,
  };
}

/** Marks sections that only clean up, publish or tell after the first one had failed: what they say follows from it. */
export function withConsequences(sections: readonly Section[]): Section[] {
  return sections.map((section, i) => (i > 0 && CLEAN_UP.test(section.name) ? { ...section, consequence: true } : section));
}

/** The nearest line at or above `from` that fits, at most `limit` lines up and not above `first`; null where none does. */
export function lineAbove(
  log: LogText,
  from: number,
  limit: number,
  fits: (text: string, line: number) => boolean,
  first = 1,
): number | null {
  const last = Math.max(1, first, from - limit);
  for (let line = from; line >= last; line--) if (fits(log.line(line), line)) return line;
  return null;
}
