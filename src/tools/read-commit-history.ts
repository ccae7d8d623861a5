import { z } from 'zod';
import type { CodeHost, CommitInfo } from '../ports/code-host.ts';
import { commitFinding, commitTitle } from './commit-finding.ts';
import { keptByCommit } from './kept-by-commit.ts';
import { ambiguousPath, codeUnavailable, locateFile, type ResolvedCommit, resolveCommit, withNote } from './repository-file.ts';
import { defineTool, type Tool } from './tool.ts';

const MAX_LINES = 200;

const Parameters = z.strictObject({
  path: z.string().trim().min(1).max(1_024).optional().describe('Only commits that touched this file'),
  lineStart: z.int().min(1).optional().describe('Only commits that touched these lines of the file; wants path'),
  lineEnd: z.int().min(1).optional().describe('Last of these lines; at most 200'),
  limit: z.int().min(1).max(20).default(10),
});
type Args = z.output<typeof Parameters>;

/** Which commits came last, and what did they touch? */
export function readCommitHistory(codeHost: CodeHost): Tool {
  return defineTool({
    name: 'read_commit_history',
    question: 'Which commits led to this build, newest first, which files did each touch, and which touched these lines?',
    categories: ['CODE_ERROR'],
    costClass: 'high',
    usualLatencyMs: 800,
    provider: `code-host:${codeHost.driver}`,
    parameters: Parameters.refine((args) => args.lineStart === undefined || args.path !== undefined, {
      error: 'lineStart wants the path of a file',
    }),
    cache: keptByCommit(codeHost, 'ofArguments'),
    unavailable: (subject) => codeUnavailable(codeHost, subject),
    async run(args, { subject, signal }) {
      const { repository } = subject.build;
      const built = await resolveCommit(codeHost, subject, signal);
      if (args.path === undefined) {
        const commits = await codeHost.history({ repository, ref: built.ref, limit: args.limit }, signal);
        return commits.map((one) => findingOf(one, built));
      }
      const located = await locateFile(codeHost, { repository, ref: built.ref, path: args.path }, signal);
      if (located === null) return [];
      if ('candidates' in located) return [ambiguousPath(args.path, located.candidates)];
      const commits = await commitsOf(codeHost, { repository, ref: built.ref, path: located.path }, args, signal);
      return commits.map((one) => findingOf(one, built, located.path));
    },
  });
}

function commitsOf(
  codeHost: CodeHost,
  file: { repository: string; ref: string; path: string },
  { lineStart, lineEnd, limit }: Args,
  signal: AbortSignal,
): Promise<CommitInfo[]> {
  if (lineStart === undefined) return codeHost.history({ ...file, limit }, signal);
  const last = Math.min(Math.max(lineStart, lineEnd ?? lineStart), lineStart + MAX_LINES - 1);
  return codeHost.lineHistory({ ...file, lineStart, lineEnd: last, limit }, signal);
}

function findingOf(info: CommitInfo, built: ResolvedCommit, path?: string) {
  return commitFinding(info, withNote(commitTitle(info), built), path === undefined ? {} : { path });
}
