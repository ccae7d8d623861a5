import type { FailingTest } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import { oneLine } from './wording.ts';

/** The line of the test that did not hold, as the framework showed it; null where it showed none. */
export function checkedExpression(test: FailingTest, subject: TriageSubject): string | null {
  for (const line of linesAfter(test, subject, 40)) {
    const shown =
      /^\s{0,12}>\s{1,12}(?:\d{1,6}\s{0,3}[|│]\s{0,60})?(?=\S)(?<code>(?:assert|expect|self\.|should|require|[\w.]{1,60}\().{1,300})$/.exec(
        line,
      )?.groups?.code;
    if (shown !== undefined) return oneLine(shown, 140);
  }
  return null;
}

/** A line of the stored text and the one that stands in its place now; null where no difference was shown. */
export function firstDifference(test: FailingTest, subject: TriageSubject): { readonly stored: string; readonly now: string } | null {
  const lines = linesAfter(test, subject, 60);
  for (const [index, line] of lines.entries()) {
    const next = lines[index + 1] ?? '';
    if (!/^\s{0,8}- {1,4}\S/.test(line) || !/^\s{0,8}\+ {1,4}\S/.test(next)) continue;
    if (/^\s{0,8}[-+] (?:Snapshot|Expected|Received|expected|received|actual)\b/.test(line)) continue;
    return { stored: oneLine(line.replace(/^\s{0,8}- /, ''), 80), now: oneLine(next.replace(/^\s{0,8}\+ /, ''), 80) };
  }
  return null;
}

/** A test as a person names it: with its suite, unless that only repeats a path or the name. */
export function spokenTest({ name, suite }: Pick<FailingTest, 'name' | 'suite'>): string {
  if (suite === null || suite === '' || name.includes(suite) || /[/\\]|\.\w{1,4}$/.test(suite) || /^[\w.$]{1,300}$/.test(suite))
    return name;
  return `${suite} › ${name}`;
}

function linesAfter({ at }: FailingTest, { excerpts }: TriageSubject, most: number): string[] {
  if (at === null) return [];
  const excerpt = excerpts.find((one) => one.source === at.source && one.lineStart <= at.line && at.line <= one.lineEnd);
  if (excerpt === undefined) return [];
  const lines = excerpt.text.split('\n').slice(at.line - excerpt.lineStart, at.line - excerpt.lineStart + most);
  return lines.map((line) => cleanLine(stripEscapes(line)).trimEnd());
}
