import type { LogText } from '../lines/lines.ts';
import type { LineRange, Mark } from './system.ts';

/** Literals of lines that docker and Markdown put around commands and logs. */
export const ECHO_LITERALS = ['] run ', ' : run ', '| >>> ', '```'] as const;

/** `#12 [4/7] RUN npm ci`, ` > [4/7] RUN npm ci:`, `Step 4/7 : RUN npm ci`. */
const INSTRUCTION = /^(?:#\d{1,4} | {0,2}> )\[[^\]]{1,80}\] RUN |^Step \d{1,3}\/\d{1,3} : RUN /;
/** The Dockerfile around the instruction that failed. */
const EXCERPT = /^\s{0,6}\d{1,5} \| |^-{20}$|^[\w./-]{0,200}[Dd]ockerfile[\w.-]{0,40}:\d{1,5}$/;
const LONGEST_EXCERPT = 20;
const FENCE = /^\s{0,3}```[\w-]{0,20}\s{0,3}$/;

/** Lines of docker builds that repeat instructions, and the sentences around a log that stands in fences. */
export function readEchoes(log: LogText, marks: readonly Mark[]): LineRange[] {
  const echoes: LineRange[] = [];
  for (const { line, text } of marks) {
    if (INSTRUCTION.test(text)) echoes.push({ start: line, end: line });
    else if (/^\s{0,6}\d{1,5} \| >>> /.test(text) && line > (echoes.at(-1)?.end ?? 0)) echoes.push(excerptAround(log, line));
  }
  return [...echoes, ...aroundFences(log, marks)];
}

function excerptAround(log: LogText, line: number): LineRange {
  let [start, end] = [line, line];
  while (start > line - LONGEST_EXCERPT && EXCERPT.test(log.line(start - 1))) start--;
  while (end < line + LONGEST_EXCERPT && EXCERPT.test(log.line(end + 1))) end++;
  return { start, end };
}

/** Empty unless fences hold more than half of a text, and more than a snippet: builds print Markdown too. */
function aroundFences(log: LogText, marks: readonly Mark[]): LineRange[] {
  const fences = marks.filter(({ text }) => FENCE.test(text)).map(({ line }) => line);
  const outside: LineRange[] = [];
  let [from, inside] = [1, 0];
  for (let at = 0; at < fences.length; at += 2) {
    const [open = 1, close = log.lineCount + 1] = fences.slice(at, at + 2);
    outside.push({ start: from, end: open });
    inside += close - open - 1;
    from = close;
  }
  if (from <= log.lineCount) outside.push({ start: from, end: log.lineCount });
  return inside > 4 && inside > log.lineCount / 2 ? outside : [];
}
