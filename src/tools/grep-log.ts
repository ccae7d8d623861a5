import { z } from 'zod';
import { CATEGORIES } from '../domain/category.ts';
import type { Finding } from '../domain/evidence.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import { cleanText } from './bounds.ts';
import { chooseSource, windowPieces } from './log-window.ts';
import { defineTool, type Tool } from './tool.ts';

const MAX_LINES = 20;

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
    async run({ text, source: named, ignoreCase, limit }, { subject }) {
      const source = await chooseSource(archive, subject, named);
      const stored = source === null ? null : await archive.read(subject.build.id, source.name);
      if (source === null || stored === null) return [];
      const { hits, total } = matchingLines(stored, ignoreCase ? text.toLowerCase() : text, ignoreCase, limit);
      return runsOf(hits).flatMap((run) => asFindings(source.name, text, run, total));
    },
  });
}

interface Hit {
  readonly line: number;
  readonly text: string;
}

/** The first lines that hold the text, and how many there are in all. */
function matchingLines(stored: string, needle: string, ignoreCase: boolean, limit: number): { hits: Hit[]; total: number } {
  const hits: Hit[] = [];
  let total = 0;
  let start = 0;
  for (let line = 1; start <= stored.length; line += 1) {
    const newline = stored.indexOf('\n', start);
    const end = newline === -1 ? stored.length : newline;
    const text = cleanText(stored.slice(start, end));
    if ((ignoreCase ? text.toLowerCase() : text).includes(needle)) {
      total += 1;
      if (hits.length < limit) hits.push({ line, text });
    }
    start = end + 1;
  }
  return { hits, total };
}

/** Neighbouring hits together, so that each finding is consecutive lines. */
function runsOf(hits: readonly Hit[]): Hit[][] {
  const runs: Hit[][] = [];
  for (const hit of hits) {
    const run = runs.at(-1);
    if (run !== undefined && run.at(-1)?.line === hit.line - 1) run.push(hit);
    else runs.push([hit]);
  }
  return runs;
}

function asFindings(source: string, text: string, run: readonly Hit[], total: number): Finding[] {
  const lineStart = run[0]?.line ?? 1;
  const title = `“${text}” in ${source} (${total} ${total === 1 ? 'line' : 'lines'} in all)`;
  return windowPieces(source, title, { lineStart, lines: run.map((hit) => hit.text) });
}
