import type { Templates } from '../../domain/build.ts';
import type { Failure } from '../../domain/failure.ts';
import { openText } from '../lines/lines.ts';
import { knowsAny } from './templates.ts';

const MAX_LINES = 5;
const MAX_LINE = 1_000;

/**
 * The lines of the log that say what a failure is about: those that hold a line of its message, as the log prints them, else the
 * message itself. At most five. Masked as the failure is.
 */
export function tellingLines({ message, excerpt }: Pick<Failure, 'message' | 'excerpt'>): string[] {
  const said = linesOf(message);
  const printed = linesOf(excerpt?.text ?? '').filter((line) => said.some((one) => line.includes(one)));
  return [...new Set(printed.length > 0 ? printed : said)].slice(0, MAX_LINES);
}

/** Whether every one of these lines stands in a green build's log, by its templates. Nothing to look for stands nowhere. */
export function standsIn(telling: readonly string[], templates: readonly Templates[]): boolean {
  return telling.length > 0 && telling.every((line) => knowsAny(templates, line));
}

/** Clean lines that hold a word. */
function linesOf(text: string): string[] {
  const log = openText(text);
  return Array.from({ length: log.lineCount }, (_, i) =>
    log
      .line(i + 1)
      .trim()
      .slice(0, MAX_LINE),
  ).filter((line) => /\p{L}{3}/u.test(line));
}
