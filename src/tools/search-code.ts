import { z } from 'zod';
import type { CodeHost } from '../ports/code-host.ts';
import { inScope } from './code-scope.ts';
import { codeUnavailable, resolveCommit, withNote } from './repository-file.ts';
import { defineTool, type Tool } from './tool.ts';

/** Hits looked at before those outside the category's scope are dropped. */
const LOOKED_AT = 500;

const Parameters = z.strictObject({
  text: z
    .string()
    .min(2, 'at least 2 characters, or everything matches')
    .max(200)
    .regex(/^[^\n\r\0]*$/, 'one line')
    .describe('Literal text, case matters: a function, a key, a message'),
  limit: z.int().min(1).max(10).default(10),
});

/** Where does this text occur in the repository? */
export function searchCode(codeHost: CodeHost): Tool {
  return defineTool({
    name: 'search_code',
    question: 'Where does this literal text occur in the repository, in the commit that was built?',
    categories: ['CODE_ERROR', 'CONFIG_ERROR', 'DEPENDENCY_ERROR'],
    costClass: 'high',
    usualLatencyMs: 1000,
    provider: `code-host:${codeHost.driver}`,
    parameters: Parameters,
    unavailable: (subject) => codeUnavailable(codeHost, subject),
    async run({ text, limit }, { subject, category, signal }) {
      const { repository } = subject.build;
      const commit = await resolveCommit(codeHost, subject, signal);
      const hits = await codeHost.search({ repository, ref: commit.ref, text, limit: LOOKED_AT }, signal);
      return hits
        .filter((hit) => inScope(hit.path, category))
        .slice(0, limit)
        .map((hit) => ({
          title: withNote(`${hit.path}:${hit.line}`, commit),
          text: hit.text,
          source: hit.path,
          lineStart: hit.line,
          lineEnd: hit.line,
          data: { path: hit.path, line: hit.line, commit: commit.ref },
        }));
    },
  });
}
