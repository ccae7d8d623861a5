import { z } from 'zod';
import type { Finding } from '../domain/evidence.ts';
import type { CodeHost } from '../ports/code-host.ts';
import { keptByCommit } from './kept-by-commit.ts';
import { windowAround } from './log-window.ts';
import { codeUnavailable, type ResolvedCommit, resolveCommit, withNote } from './repository-file.ts';
import { treeOf } from './repository-tree.ts';
import { defineTool, type Tool } from './tool.ts';

/** What a repository says of itself, the shortest first: llms.txt is written to be read by models (llmstxt.org). */
const DOCUMENTS: readonly RegExp[] = [/^llms\.txt$/i, /^(?:docs\/|\.github\/)?readme(?:\.(?:md|rst|txt|adoc|markdown|org))?$/i];
const MAX_LISTED = 5_000;
const LINES = 200;

const Parameters = z.strictObject({
  folder: z.string().trim().min(1).max(500).optional().describe('A folder (a package of a monorepo); by default the whole repository'),
});

/** What is this repository, and how is it laid out? */
export function readRepositoryDocs(codeHost: CodeHost): Tool {
  return defineTool({
    name: 'read_repository_docs',
    question: 'What does the repository say of itself (llms.txt, else its README), and how is it laid out?',
    categories: ['CODE_ERROR'],
    costClass: 'medium',
    usualLatencyMs: 700,
    provider: `code-host:${codeHost.driver}`,
    parameters: Parameters,
    cache: keptByCommit(codeHost, 'ofArguments'),
    unavailable: (subject) => codeUnavailable(codeHost, subject),
    async run({ folder }, { subject, signal }): Promise<Finding[]> {
      const { repository } = subject.build;
      const commit = await resolveCommit(codeHost, subject, signal);
      const under = folder
        ?.split('/')
        .filter((part) => part !== '' && part !== '.')
        .join('/');
      const query = { repository, ref: commit.ref, limit: MAX_LISTED, ...(under === undefined || under === '' ? {} : { under }) };
      const { paths, truncated } = await codeHost.listFiles(query, signal);
      if (paths.length === 0) return [];
      const document = await readDocument(codeHost, { repository, commit, under: under ?? '', paths }, signal);
      const tree: Finding = {
        title: withNote(`${repository}${under ? `/${under}` : ''}: ${paths.length}${truncated ? '+' : ''} files by folder`, commit),
        text: treeOf(paths, under ?? ''),
        source: 'repository',
        data: { files: paths.length, truncated },
      };
      return document === null ? [tree] : [document, tree];
    },
  });
}

interface Place {
  readonly repository: string;
  readonly commit: ResolvedCommit;
  readonly under: string;
  readonly paths: readonly string[];
}

/** The first document that is there and is not empty. */
async function readDocument(codeHost: CodeHost, place: Place, signal: AbortSignal): Promise<Finding | null> {
  const inside = (path: string) => (place.under === '' ? path : path.slice(place.under.length + 1));
  for (const pattern of DOCUMENTS) {
    const path = [...place.paths].sort((left, right) => left.length - right.length).find((one) => pattern.test(inside(one)));
    if (path === undefined) continue;
    const query = { repository: place.repository, ref: place.commit.ref, path, lineStart: 1, lineEnd: LINES };
    const file = await codeHost.readFile(query, signal);
    if (file === null || file.lines.every((line) => line.trim() === '')) continue;
    const finding = windowAround(path, withNote(path, place.commit), file, 1);
    if (finding !== null) return { ...finding, data: { path, commit: place.commit.ref } };
  }
  return null;
}
