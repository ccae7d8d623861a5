import type { Analysis } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import type { ArchivedSource } from '../../ports/build-archive.ts';
import { findBuild } from '../../publish/find-build.ts';
import { analysisAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { type EvidenceLines, evidenceLines } from './evidence.ts';

/** What pages of logs need. */
export type LogDeps = Pick<ConsoleDeps, 'archive' | 'stores'>;

/** One text of a build, and what is known of its lines. */
export interface LogFacts {
  readonly build: Build;
  /** All texts of the build, as they came. */
  readonly sources: readonly ArchivedSource[];
  readonly source: ArchivedSource;
  readonly evidence: readonly EvidenceLines[];
  /** Answers about the build, of which the evidence is. */
  readonly analyses: readonly Analysis[];
}

/** A build whose texts are not there, and why, as far as it is known. */
export interface NoLog {
  readonly build: Build;
  readonly sources: readonly ArchivedSource[];
  /** The day when retention deleted them. */
  readonly deletedAt: string | null;
  readonly wanted: string | null;
}

/** Finds a text of a build that the asker may see: the named one, else the largest log. Throws `not-found` where there is no such build. */
export async function findLog(
  { archive, stores }: LogDeps,
  id: string,
  wanted: { readonly file?: string | undefined; readonly analysis?: string | undefined },
): Promise<LogFacts | NoLog> {
  const build = await findBuild(stores.builds, id, {});
  const sources = await archive.list(build.id);
  const source = wanted.file === undefined ? largest(sources) : sources.find(({ name }) => name === wanted.file);
  if (source === undefined) {
    return { build, sources, deletedAt: await stores.builds.logsForgottenAt(build.id), wanted: wanted.file ?? null };
  }
  const analyses = await analysesOf(stores, build, wanted.analysis);
  return { build, sources, source, analyses, evidence: evidenceIn(analyses, source.name) };
}

/** The same where there must be one: throws `not-found` else. */
export async function requireLog(deps: LogDeps, id: string, file: string | undefined): Promise<LogFacts> {
  const facts = await findLog(deps, id, { file });
  if ('source' in facts) return facts;
  throw new TriageError('not-found', sayNoLog(facts));
}

/** Why there is nothing to show, in one sentence. */
export function sayNoLog({ build, sources, deletedAt, wanted }: NoLog): string {
  if (deletedAt !== null) return `Retention deleted the log on ${deletedAt.slice(0, 10)}.`;
  if (sources.length > 0) return `Build ${build.number} has no log named ${wanted ?? ''}.`;
  return 'The build has no log. Its runner may have been lost before the first line, or the log has not been fetched yet.';
}

function largest(sources: readonly ArchivedSource[]): ArchivedSource | undefined {
  const bySize = sources.toSorted((left, right) => right.bytes - left.bytes);
  return bySize.find(({ kind }) => kind === 'log') ?? bySize[0];
}

async function analysesOf(stores: LogDeps['stores'], { id }: Build, wanted: string | undefined): Promise<readonly Analysis[]> {
  if (wanted === undefined) return await stores.analyses.listByBuild(id);
  const analysis = await stores.analyses.find(wanted);
  return analysis?.buildId === id ? [analysis] : [];
}

/** Where several answers cite the same log, their evidence is told apart by the answer's number. */
function evidenceIn(analyses: readonly Analysis[], name: string): EvidenceLines[] {
  return analyses.flatMap((analysis, at) =>
    evidenceLines(analysis, new Set([name])).map(({ id, title, source, from, to }) => ({
      id: analyses.length > 1 ? `${at + 1}·${id}` : id,
      title: analyses.length > 1 ? `${analysis.answer.title}: ${title}` : title,
      source,
      from,
      to,
      anchor: false,
      href: `${analysisAddress(analysis.id)}#${id}`,
    })),
  );
}
