import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { CATEGORIES } from '../domain/category.ts';
import type { Finding } from '../domain/evidence.ts';
import type { BuildArchive, NumberedLine } from '../ports/build-archive.ts';
import { cleanText } from './bounds.ts';
import { chooseSource, windowPieces } from './log-window.ts';
import { defineTool, type Tool } from './tool.ts';

const MAX_LINES = 20;
/** How long others wait at a time, in milliseconds. */
const TURN_MS = 50;

const Parameters = z.strictObject({
  text: z
    .string()
    .min(2)
    .max(200)
    .regex(/^[^\n\r\0]*$/, 'one line')
    .describe('Literal text, no pattern'),
  source: z.string().min(1).max(500).optional().describe('Name of the log; by default the one in which the build failed'),
  ignoreCase: z.boolean().default(false),
  limit: z.int().min(1).max(MAX_LINES).default(MAX_LINES),
});

/** On which lines of the log does this text stand? */
export function grepLog(archive: BuildArchive): Tool {
  return defineTool({
    name: 'grep_log',
    question: 'On which lines of the log does this literal text stand?',
    categories: CATEGORIES,
    costClass: 'low',
    usualLatencyMs: 200,
    provider: `build-archive:${archive.driver}`,
    parameters: Parameters,
    async run({ text, source: named, ignoreCase, limit }, { subject, signal }) {
      const source = await chooseSource(archive, subject, named);
      if (source === null) return [];
      const lines = await candidates(archive, subject.build.id, source.name, literalsOf(text, ignoreCase));
      const { hits, total } = await matchingLines(lines, ignoreCase ? text.toLowerCase() : text, { ignoreCase, limit, signal });
      return runsOf(hits).flatMap((run) => asFindings(source.name, text, run, total));
    },
  });
}

/**
 * What an archive may look for in place of the text: its longest part in which only the case of ASCII letters is not heeded, and the control
 * characters that may interrupt it and are not shown. Nothing, so that every line is looked at, where the text has no such part.
 */
function literalsOf(text: string, ignoreCase: boolean): readonly string[] {
  const isPlain = !ignoreCase && text.toLowerCase() === text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const parts = isPlain ? [text] : (text.match(/[\t -~]+/g) ?? []);
  const longest = parts.reduce((long, part) => (part.length > long.length ? part : long), '');
  return longest === '' ? [] : [longest, ...INTERRUPTING];
}

/** All that `cleanText` removes, without escapes, which every archive sees through, and returns, after which a line begins anew. */
const INTERRUPTING: readonly string[] = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter((one) =>
  /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]/.test(one),
);

type Lines = Iterable<readonly NumberedLine[]>;

/** Lines that may hold the text, among them all that do. */
async function candidates(archive: BuildArchive, buildId: string, name: string, literals: readonly string[]): Promise<Lines> {
  if (archive.linesWith !== undefined) return archive.linesWith(buildId, name, literals);
  const stored = await archive.read(buildId, name);
  return stored === null ? [] : linesOf(stored);
}

function* linesOf(stored: string): Lines & Generator<readonly NumberedLine[]> {
  for (let line = 1, start = 0; start <= stored.length; line += 1) {
    const newline = stored.indexOf('\n', start);
    const end = newline === -1 ? stored.length : newline;
    yield [{ line, text: stored.slice(start, end) }];
    start = end + 1;
  }
}

interface Wanted {
  readonly ignoreCase: boolean;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** The first lines that hold the text, and how many there are in all. */
async function matchingLines(lines: Lines, needle: string, wanted: Wanted): Promise<{ hits: NumberedLine[]; total: number }> {
  const hits: NumberedLine[] = [];
  let total = 0;
  let last = 0;
  let paused = performance.now();
  for (const some of lines) {
    for (const { line, text: raw } of some) {
      const text = cleanText(raw);
      if (line === last || !(wanted.ignoreCase ? text.toLowerCase() : text).includes(needle)) continue;
      last = line;
      total += 1;
      if (hits.length < wanted.limit) hits.push({ line, text });
    }
    if (performance.now() - paused < TURN_MS) continue;
    // Without a turn for others the time limit would never be heard of.
    await nextTurn();
    wanted.signal.throwIfAborted();
    paused = performance.now();
  }
  return { hits, total };
}

/** Neighbouring hits together, so that each finding is consecutive lines. */
function runsOf(hits: readonly NumberedLine[]): NumberedLine[][] {
  const runs: NumberedLine[][] = [];
  for (const hit of hits) {
    const run = runs.at(-1);
    if (run !== undefined && run.at(-1)?.line === hit.line - 1) run.push(hit);
    else runs.push([hit]);
  }
  return runs;
}

function asFindings(source: string, text: string, run: readonly NumberedLine[], total: number): Finding[] {
  const lineStart = run[0]?.line ?? 1;
  const title = `“${text}” in ${source} (${total} ${total === 1 ? 'line' : 'lines'} in all)`;
  return windowPieces(source, title, { lineStart, lines: run.map((hit) => hit.text) });
}
