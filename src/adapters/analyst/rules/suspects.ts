import { z } from 'zod';
import type { Suspect } from '../../../domain/analysis.ts';
import type { Category } from '../../../domain/category.ts';
import type { Evidence } from '../../../domain/evidence.ts';
import type { TriageSubject } from '../../../domain/subject.ts';
import { importedFiles } from './imported-files.ts';
import { isSameFile, type Place, placesOf } from './places.ts';

const Commit = z.object({
  path: z.string().nullish().catch(null),
  commit: z.string().nullish().catch(null),
  sha: z.string().nullish().catch(null),
  author: z.string().nullish().catch(null),
});

const MAX_SUSPECTS = 10;
const IMPORTED = 0.5;
const IMPORTED_MOST = 0.9;

/** Files that may hold the fault, ranked, with commit and author where blame or history found them. */
export function suspectsOf(subject: TriageSubject, evidence: readonly Evidence[], category: Category): Suspect[] {
  const commits = commitsOf(evidence);
  return withImports(placesOf(subject), importedFiles(subject, evidence))
    .filter((place) => isSuspect(place, category))
    .slice(0, MAX_SUSPECTS)
    .map(({ path, line, score, reason }) => {
      const changed = commits.find((entry) => isSameFile(entry.path, path)) ?? null;
      const raised = changed === null ? score : Math.min(1, Math.round((score + 0.05) * 100) / 100);
      return { path, line, commit: changed?.commit ?? null, author: changed?.author ?? null, score: raised, reason };
    })
    .sort((left, right) => right.score - left.score);
}

/** What the test imports ranks between the frames and the test; where it is suspected already, a little higher. */
function withImports(places: readonly Place[], imported: readonly string[]): Place[] {
  const raised = places.map((place) => {
    const isImported = place.score < IMPORTED_MOST && imported.some((path) => isSameFile(path, place.path));
    return isImported ? { ...place, score: Math.round((place.score + 0.05) * 100) / 100 } : place;
  });
  const added = imported
    .filter((path) => !places.some((place) => isSameFile(path, place.path)))
    .map((path) => ({ path, line: null, from: 'test' as const, score: IMPORTED, reason: 'the failing test imports it' }));
  return [...raised, ...added].sort((left, right) => right.score - left.score);
}

/** No file of the project is to blame for the machine; for set-up and dependencies only those that a tool or a trace names. */
function isSuspect({ from }: Place, category: Category): boolean {
  if (category === 'INFRA_ERROR') return false;
  return from !== 'test' || category === 'CODE_ERROR' || category === 'TEST_FAILURE';
}

function commitsOf(evidence: readonly Evidence[]): { path: string; commit: string | null; author: string | null }[] {
  const found = evidence.filter((item) => item.tool === 'read_blame' || item.tool === 'read_commit_history');
  return found.map((item) => {
    const data = Commit.safeParse(item.data ?? {}).data ?? {};
    return { path: data.path ?? item.source, commit: data.commit ?? data.sha ?? null, author: data.author ?? null };
  });
}
