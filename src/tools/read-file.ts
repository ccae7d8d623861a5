import { z } from 'zod';
import type { ToolCall } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { repositoryPathCandidates } from '../log/paths/repository-path.ts';
import type { CodeHost } from '../ports/code-host.ts';
import { keptByCommit } from './kept-by-commit.ts';
import { windowAround } from './log-window.ts';
import { ambiguousPath, codeUnavailable, locateFile, resolveCommit, withNote } from './repository-file.ts';
import { defineTool, type Tool, type ToolContext } from './tool.ts';

/** Lines shown on either side of the line that is asked for. */
const AROUND = 20;
/** Lines shown from the top where no line is asked for. */
const FROM_TOP = 120;

const Parameters = z.strictObject({
  path: z.string().trim().min(1).max(1_024).describe('Path in the repository, or as the log prints it'),
  line: z.int().min(1).optional().describe('The line of interest, 1-based; lines around it come too'),
  lineStart: z.int().min(1).optional(),
  lineEnd: z.int().min(1).optional().describe('At most 200 lines after lineStart'),
});
type Args = z.output<typeof Parameters>;

/** What stands in this file, in the commit that was built? */
export function readFile(codeHost: CodeHost): Tool {
  return defineTool({
    name: 'read_file',
    question: 'What stands in this file at this line, in the commit that was built?',
    categories: ['CODE_ERROR', 'CONFIG_ERROR', 'DEPENDENCY_ERROR'],
    costClass: 'medium',
    usualLatencyMs: 500,
    provider: `code-host:${codeHost.driver}`,
    parameters: Parameters,
    alternative: { tool: 'search_code', args: alternativeArgs },
    cache: keptByCommit(codeHost, 'ofArguments'),
    unavailable: (subject) => codeUnavailable(codeHost, subject),
    run: (args, context) => run(codeHost, args, context),
  });
}

async function run(codeHost: CodeHost, args: Args, { subject, signal }: ToolContext) {
  const { repository } = subject.build;
  const commit = await resolveCommit(codeHost, subject, signal);
  const located = await locateFile(codeHost, { repository, ref: commit.ref, path: args.path }, signal);
  if (located === null) return [];
  if ('candidates' in located) return [ambiguousPath(args.path, located.candidates)];
  const range = rangeOf(args);
  const file = await codeHost.readFile({ repository, ref: commit.ref, path: located.path, ...range }, signal);
  if (file === null) return [];
  const focus = args.line ?? range.lineStart;
  const finding = windowAround(file.path, withNote(file.path, commit), { lineStart: file.lineStart, lines: file.lines }, focus);
  return finding === null ? [] : [{ ...finding, data: { path: file.path, commit: commit.ref, totalLines: file.totalLines } }];
}

function rangeOf(args: Args): { lineStart: number; lineEnd: number } {
  if (args.lineStart !== undefined || args.line === undefined) {
    const lineStart = args.lineStart ?? 1;
    return { lineStart, lineEnd: Math.min(args.lineEnd ?? lineStart + FROM_TOP - 1, lineStart + 199) };
  }
  return { lineStart: Math.max(1, args.line - AROUND), lineEnd: args.line + AROUND };
}

/** Looks for the function that failed in that file, else for the file's own name. */
function alternativeArgs(call: ToolCall, subject: TriageSubject): Record<string, unknown> {
  const path = typeof call.args.path === 'string' ? call.args.path : '';
  const name = repositoryPathCandidates(path)[0]?.split('/').at(-1) ?? path.slice(-100);
  const frames = [...subject.exceptions, ...subject.failures].flatMap((item) => item.frames);
  const failed = frames
    .find((frame) => name !== '' && frame.file.endsWith(name))
    ?.function?.split(/[.#:]/)
    .at(-1);
  return { text: failed !== undefined && failed.length > 3 ? failed : name.replace(/\.\w+$/, '') };
}
