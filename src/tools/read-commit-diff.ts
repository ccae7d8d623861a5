import { z } from 'zod';
import type { Finding } from '../domain/evidence.ts';
import type { CodeHost } from '../ports/code-host.ts';
import { inScope } from './code-scope.ts';
import { changeFinding, commitData, commitFinding, commitTitle } from './commit-finding.ts';
import { keptByCommit } from './kept-by-commit.ts';
import { mentionedFirst } from './mentioned-files.ts';
import { codeUnavailable } from './repository-file.ts';
import { defineTool, type Tool } from './tool.ts';

/** Files whose patches are shown, beside the commit itself. */
const MAX_PATCHES = 8;

const Parameters = z.strictObject({
  commit: z
    .string()
    .trim()
    .regex(/^[0-9a-fA-F]{7,64}$/, 'a commit id of 7 to 64 hexadecimal digits')
    .optional()
    .describe('Id of the commit; by default the one that was built'),
  path: z.string().trim().min(1).max(1_024).optional().describe('Only what it changed in this file'),
});

/** What did this commit change? */
export function readCommitDiff(codeHost: CodeHost): Tool {
  return defineTool({
    name: 'read_commit_diff',
    question: 'What did this commit change, line by line, and in which pull request?',
    categories: ['CODE_ERROR', 'CONFIG_ERROR', 'DEPENDENCY_ERROR', 'TEST_FAILURE'],
    costClass: 'medium',
    usualLatencyMs: 700,
    provider: `code-host:${codeHost.driver}`,
    parameters: Parameters,
    cache: keptByCommit(codeHost),
    unavailable: (subject) => codeUnavailable(codeHost, subject),
    async run({ commit, path }, { subject, category, signal }): Promise<Finding[]> {
      const asked = commit ?? subject.build.commit;
      if (asked === null) return [];
      const diff = await codeHost.commitDiff({ repository: subject.build.repository, commit: asked }, signal);
      if (diff === null) return [];
      const allowed = diff.files.filter((file) => (path === undefined ? inScope(file.path, category) : isMeant(file.path, path)));
      if (allowed.length === 0) return [];
      const title = commitTitle(diff.commit);
      const paths = allowed.map((file) => file.path);
      const whole = commitFinding({ ...diff.commit, files: paths }, diff.truncated ? `${title} (not all of it)` : title);
      const patches = mentionedFirst(allowed, subject).slice(0, MAX_PATCHES);
      return [whole, ...patches.map((file) => changeFinding(file, title, commitData(diff.commit)))];
    },
  });
}

function isMeant(path: string, asked: string): boolean {
  return path === asked || path.endsWith(`/${asked}`) || asked.endsWith(`/${path}`);
}
