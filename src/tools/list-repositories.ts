import { z } from 'zod';
import type { CodeHost } from '../ports/code-host.ts';
import { codeUnavailable } from './repository-file.ts';
import type { Sight } from './sight.ts';
import { defineTool, type Tool } from './tool.ts';

/** Asked for before those of other owners are dropped. */
const LOOKED_AT = 200;

const Parameters = z.strictObject({
  name: z.string().trim().min(1).max(100).optional().describe('Only repositories whose name contains this'),
  limit: z.int().min(1).max(50).default(30),
});

/**
 * Which repositories can be read? Only those of the build's own owner are named: what an answer says is read by whoever may read the
 * build, and the names of others' private repositories are none of their business.
 */
export function listRepositories(codeHost: CodeHost, sight: Sight): Tool {
  return defineTool({
    name: 'list_repositories',
    question: "Which repositories of this build's owner can be read, and what are they for?",
    categories: ['CODE_ERROR'],
    costClass: 'low',
    usualLatencyMs: 400,
    provider: `code-host:${codeHost.driver}`,
    parameters: Parameters,
    unavailable: (subject) => codeUnavailable(codeHost, subject),
    async run({ name, limit }, { subject, signal }) {
      const all = await codeHost.listRepositories({ limit: LOOKED_AT }, signal);
      const owner = ownerOf(subject.build.repository);
      const sees = await sight(subject.build.repository);
      const found = all
        .filter((one) => sees(one.repository))
        .filter((one) => ownerOf(one.repository) === owner)
        .filter((one) => name === undefined || one.repository.toLowerCase().includes(name.toLowerCase()))
        .slice(0, limit);
      if (found.length === 0) return [];
      const lines = found.map(({ repository, defaultBranch, description }) => {
        const branch = defaultBranch === null ? '' : ` (${defaultBranch})`;
        return `${repository}${branch}${description === null ? '' : `: ${description}`}`;
      });
      const data = { repositories: found.map(({ repository, defaultBranch }) => ({ repository, defaultBranch })) };
      return [
        { title: `Repositories of ${owner} that can be read: ${found.length}`, text: lines.join('\n'), source: 'repositories', data },
      ];
    },
  });
}

function ownerOf(repository: string): string {
  return repository.split('/')[0]?.toLowerCase() ?? '';
}
