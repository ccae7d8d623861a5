import type { LogText } from '../../lines/lines.ts';
import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const FAIL = /^\s{0,8}[✘✖×x] \[fail\]: (?<title>\S.{0,400})$/i;
const TITLE = /^\s{2}(?<title>\S.{0,400})$/;
const RULE = /^\s{2}─{1,3}$/;

/** AVA: `✘ [fail]: file › title`, and below the rule a passage for each title. */
export const ava: Extractor = {
  name: 'ava',
  literals: ['[fail]: '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'ava');
    const fails = lines
      .flatMap((line) => ({ line, said: FAIL.exec(log.line(line).trimEnd())?.groups?.title ?? '' }))
      .filter(({ said }) => said !== '');
    const last = fails.at(-1);
    if (last === undefined) return;
    const passages = passagesBelow(
      log,
      last.line,
      fails.map(({ said }) => said),
    );
    for (const { line, said } of fails) {
      const passage = passages.find(({ title }) => isTitled(said, title));
      const path = (passage?.title ?? said).split(' › ');
      const known = { name: path.slice(1).join(' › ') || said, suite: path.length > 1 ? (path[0] ?? null) : null };
      list.add(path.length > 1 ? known : { name: passage?.title ?? said }, line, line);
      if (passage === undefined) continue;
      list.add(
        { ...(path.length > 1 ? known : { name: passage.title }), ...detailOf(linesBetween(log, passage.start + 1, passage.end)) },
        passage.start,
        passage.end,
      );
    }
  },
};

/** The line of a failure goes on with what the assertion said. */
function isTitled(said: string, title: string): boolean {
  return said === title || said.startsWith(`${title} `);
}

function passagesBelow(log: LogText, from: number, said: readonly string[]): { title: string; start: number; end: number }[] {
  const passages: { title: string; start: number; end: number }[] = [];
  const last = Math.min(log.lineCount, from + 200 + said.length * 60);
  for (let line = from + 1; line <= last; line++) {
    const title = TITLE.exec(log.line(line).trimEnd())?.groups?.title;
    if (title === undefined || log.line(line + 1).trim() !== '' || !said.some((one) => isTitled(one, title))) continue;
    const end = blockEnd(
      log,
      line,
      80,
      (text, at) => !RULE.test(text.trimEnd()) && !(text.trim() === '' && log.line(at + 1).trim() === ''),
    );
    passages.push({ title, start: line, end });
    line = end;
  }
  return passages;
}

function detailOf(body: readonly string[]): {
  file?: string;
  line?: number;
  message: string | null;
  expected: string | null;
  actual: string | null;
} {
  const place = body
    .map((text) => /^\s{2}(?<file>[^\s:]{1,300}\.\w{1,5}):(?<line>\d{1,7})$/.exec(text.trimEnd())?.groups)
    .find((one) => one !== undefined);
  const start = body.findIndex((text) => /^\s{2}Difference\b/.test(text));
  const side = (sign: string) =>
    body
      .slice(start + 1)
      .find((text) => text.startsWith(`  ${sign} `))
      ?.slice(4)
      .trim() ?? null;
  const message =
    body.find((text) => /^\s{2}\S.{0,300}:?$/.test(text) && !/^\s{2,6}(?:\d{1,6}:|[^\s:]{1,300}:\d{1,7}$)/.test(text))?.trim() ?? null;
  const thrown = body.find((text) => /^\s{2}[A-Z]\w{0,60}(?:Error|Exception): /.test(text))?.trim();
  const at = place?.file === undefined ? {} : { file: place.file, line: Number(place.line) };
  return { ...at, message: thrown ?? message, expected: start === -1 ? null : side('+'), actual: start === -1 ? null : side('-') };
}
