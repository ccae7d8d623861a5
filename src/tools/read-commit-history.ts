import { z } from 'zod';
import type { Finding } from '../domain/evidence.ts';
import type { CodeHost, CommitInfo } from '../ports/code-host.ts';
import { ambiguousPath, codeUnavailable, locateFile, type ResolvedCommit, resolveCommit, withNote } from './repository-file.ts';
import { defineTool, type Tool } from './tool.ts';

const Parameters = z.strictObject({
  path: z.string().trim().min(1).max(1_024).optional().describe('Only commits that touched this file'),
  limit: z.int().min(1).max(20).default(10),
});

/** Which commits came last, and what did they touch? */
export function readCommitHistory(codeHost: CodeHost): Tool {
  return defineTool({
    name: 'read_commit_history',
    question: 'Which commits led to this build, newest first, and which files did each touch?',
    categories: ['CODE_ERROR'],
    costClass: 'high',
    usualLatencyMs: 800,
    provider: `code-host:${codeHost.driver}`,
    parameters: Parameters,
    unavailable: (subject) => codeUnavailable(codeHost, subject),
    async run({ path, limit }, { subject, signal }) {
      const { repository } = subject.build;
      const commit = await resolveCommit(codeHost, subject, signal);
      if (path === undefined) {
        const commits = await codeHost.history({ repository, ref: commit.ref, limit }, signal);
        return commits.map((one) => findingOf(one, commit));
      }
      const located = await locateFile(codeHost, { repository, ref: commit.ref, path }, signal);
      if (located === null) return [];
      if ('candidates' in located) return [ambiguousPath(path, located.candidates)];
      const commits = await codeHost.history({ repository, ref: commit.ref, path: located.path, limit }, signal);
      return commits.map((one) => findingOf(one, commit, located.path));
    },
  });
}

function findingOf(info: CommitInfo, built: ResolvedCommit, path?: string): Finding {
  const files = info.files.slice(0, 50);
  const more = info.files.length - files.length;
  return {
    title: withNote(`${info.commit.slice(0, 10)} ${info.author}, ${info.at.slice(0, 10)}: ${info.subject}`, built),
    text: [info.subject, ...files, ...(more > 0 ? [`… ${more} more files`] : [])].join('\n'),
    source: `commit/${info.commit}`,
    data: { ...(path === undefined ? {} : { path }), commit: info.commit, author: info.author, at: info.at, subject: info.subject, files },
  };
}
