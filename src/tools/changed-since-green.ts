import { z } from 'zod';
import type { Category } from '../domain/category.ts';
import type { Finding } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import type { ChangedFile, CodeHost, CommitInfo, Comparison } from '../ports/code-host.ts';
import type { HistoryStore } from '../ports/stores.ts';
import { inScope } from './code-scope.ts';
import { changeFinding, commitData, commitTitle } from './commit-finding.ts';
import { mentionedFirst } from './mentioned-files.ts';
import { codeUnavailable } from './repository-file.ts';
import { defineTool, type Tool } from './tool.ts';

/** Files whose patches are shown, beside the list of all. */
const MAX_PATCHES = 8;
const MAX_COMMITS = 20;
/** Paths that are kept as data for the ranking of suspects. */
const MAX_PATHS = 200;

/** Where the comparison begins, and how that is said. */
interface Base {
  readonly commit: string;
  readonly said: string;
  /** Whether it worked there, or is likely to have. */
  readonly isGreen: boolean;
}

/** What changed since it last worked? */
export function changedSinceGreen(codeHost: CodeHost, history: HistoryStore): Tool {
  return defineTool({
    name: 'changed_since_green',
    question: 'Which files and commits changed between the last green build and this one?',
    categories: ['CODE_ERROR', 'CONFIG_ERROR', 'DEPENDENCY_ERROR', 'TEST_FAILURE'],
    costClass: 'medium',
    usualLatencyMs: 800,
    provider: `code-host:${codeHost.driver}`,
    parameters: z.strictObject({}),
    unavailable: (subject) => codeUnavailable(codeHost, subject),
    async run(_args, { subject, category, signal }): Promise<Finding[]> {
      const { repository, commit } = subject.build;
      if (commit === null) return [];
      const base = await baseOf(codeHost, history, subject, signal);
      const compared = base === null ? null : await codeHost.compare({ repository, base: base.commit, head: commit }, signal);
      if (compared !== null && base !== null) return findingsOf(inScopeOf(compared, category), base, subject);
      const own = await codeHost.commitDiff({ repository, commit }, signal);
      if (own === null) return [];
      const change = { ...own, commits: [own.commit] };
      return findingsOf(
        inScopeOf(change, category),
        { commit, isGreen: false, said: 'that was built; no earlier green build is known' },
        subject,
      );
    },
  });
}

/**
 * The commit of the last green build of this pipeline and branch. Where none is known: what the branch has that the default branch has
 * not, since a branch begins where others passed. Null where neither can be said: then the built commit's own change is all there is.
 */
async function baseOf(codeHost: CodeHost, history: HistoryStore, subject: TriageSubject, signal: AbortSignal): Promise<Base | null> {
  const { repository, pipeline, branch, id, commit } = subject.build;
  const { lastGreen } = await history.consecutiveFailures({ repository, pipeline, branch, buildId: id });
  if (lastGreen?.commit != null && lastGreen.commit !== commit) {
    return {
      commit: lastGreen.commit,
      isGreen: true,
      said: `since the green build ${lastGreen.id === 'green' ? '' : `#${lastGreen.number} `}(${lastGreen.commit.slice(0, 10)})`,
    };
  }
  const { ref } = await codeHost.resolve({ repository, ref: null }, signal);
  if (ref === null || ref === commit) return null;
  return {
    commit: ref,
    isGreen: true,
    said: `that the default branch (${ref.slice(0, 10)}) has not; no green build of this branch is known`,
  };
}

function inScopeOf(compared: Comparison, category: Category): Comparison {
  return { ...compared, files: compared.files.filter(({ path }) => inScope(path, category)) };
}

function findingsOf({ commits, files, truncated }: Comparison, base: Base, subject: TriageSubject): Finding[] {
  if (files.length === 0) return [];
  const summary: Finding = {
    title: `${counted(files.length, 'file')} in ${counted(commits.length, 'commit')} ${base.said}${truncated ? '; there are more' : ''}`,
    text: [...commits.slice(0, MAX_COMMITS).map(commitTitle), '', ...files.slice(0, MAX_PATHS).map(shortChange)].join('\n'),
    source: `compare/${base.commit.slice(0, 10)}...${subject.build.commit?.slice(0, 10)}`,
    data: {
      base: base.commit,
      files: files.slice(0, MAX_PATHS).map(({ path }) => path),
      fileCount: files.length,
      truncated,
      sinceGreen: base.isGreen,
    },
  };
  const patches = mentionedFirst(files, subject).slice(0, MAX_PATCHES);
  return [
    summary,
    ...patches.map((file) => {
      const by = commitOf(file, commits);
      const title = by === null ? 'the changes' : commitTitle(by);
      return changeFinding(file, title, by === null ? {} : commitData(by));
    }),
  ];
}

/** The newest commit that touched the file; the only one where there is one. Null where the host does not say. */
function commitOf({ path, previousPath }: ChangedFile, commits: readonly CommitInfo[]): CommitInfo | null {
  if (commits.length === 1) return commits[0] ?? null;
  return commits.find(({ files }) => files.includes(path) || (previousPath !== null && files.includes(previousPath))) ?? null;
}

function shortChange({ path, status, additions, deletions }: ChangedFile): string {
  return `${path} (${status}, +${additions} −${deletions})`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
