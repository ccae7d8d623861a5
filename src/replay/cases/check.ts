import type { Category } from '../../domain/category.ts';
import { messageOf } from '../../domain/errors.ts';
import { type BadCase, type CaseOutcome, type DatasetRow, projectOf, type ReplayCase } from './case.ts';

/** One thing that is wrong with one case. */
export interface CaseProblem {
  /** 1-based, in a file the line. */
  readonly line: number;
  readonly id: string | null;
  /** `expected_lines.0`; null where it is no single field, as in what is not JSON. */
  readonly field: string | null;
  readonly reason: string;
}

export interface CheckedCases {
  readonly cases: number;
  readonly good: number;
  readonly problems: number;
  /** Good ones by label; `none` are those without. */
  readonly categories: Readonly<Partial<Record<Category | 'none', number>>>;
  readonly projects: Readonly<Record<string, number>>;
  /** Good ones that say when they happened: a split by time needs it. */
  readonly dated: number;
}

export interface CheckOptions {
  /** Reads every log too; null leaves them alone. */
  readonly logs: { readonly maxBytes: number } | null;
  readonly onProblem: (problem: CaseProblem) => void;
}

/** Looks at every case, one in memory at a time, and tells everything that is wrong with each. */
export async function checkCases(outcomes: AsyncIterable<CaseOutcome>, options: CheckOptions, signal: AbortSignal): Promise<CheckedCases> {
  const categories: Partial<Record<Category | 'none', number>> = {};
  const projects = new Map<string, number>();
  let [cases, good, problems, dated] = [0, 0, 0, 0];
  for await (const outcome of outcomes) {
    signal.throwIfAborted();
    cases++;
    const found = 'error' in outcome ? problemsIn(outcome) : await problemsWith(outcome.one, outcome.line, options);
    problems += found.length;
    for (const problem of found) options.onProblem(problem);
    if ('error' in outcome || found.length > 0) continue;
    const { row } = outcome.one;
    good++;
    if (row.happened_at != null) dated++;
    const category = row.category ?? 'none';
    categories[category] = (categories[category] ?? 0) + 1;
    projects.set(projectOf(row), (projects.get(projectOf(row)) ?? 0) + 1);
  }
  const bySize = [...projects].sort(([left, ones], [right, others]) => others - ones || (left < right ? -1 : 1));
  return { cases, good, problems, categories, projects: Object.fromEntries(bySize), dated };
}

function problemsIn({ line, id, field, error, problems }: BadCase): CaseProblem[] {
  if (problems === undefined) return [{ line, id, field: field ?? null, reason: withoutPlace(error, line, field) }];
  return problems.map(({ path, reason }) => ({ line, id, field: path, reason }));
}

/** The line and the field stand beside the reason already. */
function withoutPlace(error: string, line: number, field: string | undefined): string {
  const place = field === undefined ? `line ${line} ` : `line ${line}, field ${field}: `;
  return error.startsWith(place) ? error.slice(place.length) : error;
}

async function problemsWith(one: ReplayCase, line: number, { logs }: CheckOptions): Promise<CaseProblem[]> {
  const { row } = one;
  const problem = (field: string | null, reason: string): CaseProblem => ({ line, id: row.id, field, reason });
  const found = backwards(row).map((at) => problem(`expected_lines.${at}`, 'the range ends before it begins'));
  if (logs === null) return found;
  try {
    const { sources } = await one.load({ maxBytes: logs.maxBytes, green: true });
    const text = sources[0]?.text ?? '';
    if (sources.every((source) => source.text.trim() === '')) found.push(problem(null, 'the log is empty'));
    const lines = row.expected_lines == null ? 0 : text.split('\n').length;
    const beyond = (row.expected_lines ?? []).findIndex(([, end]) => end > lines);
    if (beyond !== -1) found.push(problem(`expected_lines.${beyond}`, `the log ends at line ${lines}`));
  } catch (error) {
    found.push(problem(null, messageOf(error)));
  }
  return found;
}

function backwards({ expected_lines }: DatasetRow): number[] {
  return (expected_lines ?? []).flatMap(([start, end], at) => (end < start ? [at] : []));
}
