import { createHash } from 'node:crypto';
import { resolveProject } from '../../../../src/replay/cases/case.ts';
import type { AnsweredRow } from './read-answered.ts';

/** An answer for a reader to judge, with the truth. */
export interface PickedAnswer {
  readonly id: string;
  readonly title: string | null;
  readonly rootCause: string | null;
  readonly fix: string | null;
  readonly claims: AnsweredRow['result']['claims'];
  readonly trueRootCause: string | null;
  readonly trueFix: string;
  readonly logPath: string | null;
  readonly expectedLines: readonly (readonly number[])[];
}

/**
 * Picks answers in proportion to their categories and to whether they are published, at least one of each.
 * Within these groups, a hash of the id decides, so that the same rows always give the same choice. `owners`
 * are the owners of the projects to pick from, null for all.
 */
export function pickAnswers(
  rows: readonly AnsweredRow[],
  count: number,
  owners: ReadonlySet<string> | null,
): PickedAnswer[] {
  const asked = rows.filter(
    ({ row }) => owners === null || owners.has(resolveProject(row).split('/')[0] ?? ''),
  );
  const strata = [
    ...Map.groupBy(asked, ({ row, result }) => `${row.category} ${result.action === 'auto_notify'}`),
  ].toSorted(([left], [right]) => (left < right ? -1 : 1));
  const picked = strata.flatMap(([, members]) => {
    const share = Math.max(1, Math.ceil((count * members.length) / asked.length));
    return members
      .toSorted((left, right) => (hash(left.row.id) < hash(right.row.id) ? -1 : 1))
      .slice(0, share);
  });
  return picked.toSorted((left, right) => (hash(left.row.id) < hash(right.row.id) ? -1 : 1)).map(toPicked);
}

function toPicked({ row, result, logPath }: AnsweredRow): PickedAnswer {
  return {
    id: row.id,
    title: result.analyses[0]?.title ?? null,
    rootCause: result.rootCause,
    fix: result.fixRecommendation,
    claims: result.claims,
    trueRootCause: row.root_cause ?? null,
    trueFix: row.fix,
    logPath,
    expectedLines: row.expected_lines ?? [],
  };
}

function hash(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
