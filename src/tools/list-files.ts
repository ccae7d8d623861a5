import { z } from 'zod';
import type { Finding } from '../domain/evidence.ts';
import type { CodeHost } from '../ports/code-host.ts';
import { createPathTest } from './globs.ts';
import { defineCodeTool, findBuiltCode } from './repository.ts';
import type { Tool } from './tool.ts';

const MAX_LISTED = 100_000;

const Parameters = z.strictObject({
  folder: z.string().trim().min(1).max(500).optional().describe('Only below this folder'),
  depth: z.int().min(1).max(20).optional().describe('Levels of folders; deeper ones are counted'),
  globs: z
    .array(z.string().trim().min(1).max(200))
    .max(10)
    .optional()
    .describe('Only files that match one of these: "*.ts", "src/**/*.{c,h}"'),
  limit: z.int().min(1).max(200).default(100),
});

/** Creates the tool that lists files by folder, depth and globs. */
export function listFiles(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'list_files',
    question: 'Which files and folders are there, to this depth or with these names?',
    serves: { CODE_ERROR: null },
    investigator: 'code',
    asks: 'code host',
    costClass: 'low',
    usualLatencyMs: 300,
    parameters: Parameters,
    keptBy: 'arguments',
    async run({ folder, depth, globs = [], limit }, context): Promise<Finding[]> {
      const code = await findBuiltCode(codeHost, context);
      const under =
        folder
          ?.split('/')
          .filter((part) => part !== '' && part !== '.')
          .join('/') ?? '';
      const query = { ...code.at, limit: MAX_LISTED, ...(under === '' ? {} : { under }) };
      const { paths, truncated } = await codeHost.listFiles(query, code.signal);
      const isWanted = createPathTest(globs);
      const wanted = paths.filter(isWanted);
      if (wanted.length === 0) return [];
      const entries = depth === undefined ? wanted : foldBelow(wanted, under, depth);
      const more = entries.length > limit ? [`… ${entries.length - limit} more`] : [];
      const where = under === '' ? code.at.repository : under;
      return [
        {
          title: code.titled(`${where}: ${wanted.length}${truncated ? '+' : ''} files`),
          text: [...entries.slice(0, limit), ...more].join('\n'),
          source: 'repository',
          data: { files: wanted.length, paths: wanted.slice(0, limit) },
        },
      ];
    },
  });
}

/** Replaces what lies deeper than `depth` folders by the folder and the number of its files. */
function foldBelow(paths: readonly string[], under: string, depth: number): string[] {
  const skipped = under === '' ? 0 : under.split('/').length;
  const counts = new Map<string, number>();
  for (const path of paths) {
    const parts = path.split('/');
    const isDeep = parts.length - skipped > depth;
    const entry = isDeep ? `${parts.slice(0, skipped + depth).join('/')}/` : path;
    counts.set(entry, (counts.get(entry) ?? 0) + 1);
  }
  return [...counts].map(([entry, count]) => (entry.endsWith('/') ? `${entry} (${count})` : entry));
}
