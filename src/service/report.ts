import type { Build } from '../domain/build.ts';
import type { Category } from '../domain/category.ts';
import type { Stores } from '../stores/stores.ts';

/** What was answered, or would have been, for the builds of a repository. */
export interface AnswerReport {
  readonly builds: { readonly failed: number; readonly passed: number; readonly unanswered: number };
  /** The newest first. */
  readonly answers: readonly ReportedAnswer[];
  /** The most frequent first. */
  readonly causes: readonly { readonly category: Category | null; readonly title: string; readonly count: number }[];
}

export interface ReportedAnswer {
  readonly analysisId: string;
  readonly build: Pick<Build, 'id' | 'pipeline' | 'number' | 'attempt' | 'branch' | 'url'> & { readonly at: string };
  readonly category: Category | null;
  readonly title: string;
  /** 0..1 */
  readonly confidence: number;
  /** Sure enough to be told without a person; else it waits for one. */
  readonly isPublished: boolean;
  readonly failures: number;
}

const PAGE = 200;
/** Builds that are looked through at most. */
const MAX_BUILDS = 5_000;
const MAX_CAUSES = 10;

export async function reportOf(
  { builds, analyses }: { readonly builds: Pick<Stores['builds'], 'list'>; readonly analyses: Pick<Stores['analyses'], 'heads'> },
  { repository, since }: { readonly repository: string; readonly since: Date },
): Promise<AnswerReport> {
  const counts = { failed: 0, passed: 0, unanswered: 0 };
  const answers: ReportedAnswer[] = [];
  for (let offset = 0; offset < MAX_BUILDS; offset += PAGE) {
    const page = await builds.list({ repository }, { limit: PAGE, offset });
    const recent = page.filter(({ receivedAt }) => Date.parse(receivedAt) >= since.getTime());
    const failed = recent.filter(({ status }) => status === 'failed');
    counts.failed += failed.length;
    counts.passed += recent.filter(({ status }) => status === 'passed').length;
    const heads = Map.groupBy(await analyses.heads(failed.map(({ id }) => id)), ({ buildId }) => buildId);
    for (const build of failed) {
      const own = heads.get(build.id) ?? [];
      if (own.length === 0) counts.unanswered += 1;
      for (const head of own) answers.push(answerOf(build, head));
    }
    if (page.length < PAGE || recent.length < page.length) break;
  }
  return { builds: counts, answers, causes: causesOf(answers) };
}

function answerOf(build: Build, head: Awaited<ReturnType<Stores['analyses']['heads']>>[number]): ReportedAnswer {
  const { id, pipeline, number, attempt, branch, url, receivedAt: at } = build;
  const { category, title, confidence, failures, action } = head;
  const shown = { id, pipeline, number, attempt, branch, url, at };
  return { analysisId: head.id, build: shown, category, title, confidence, failures, isPublished: action === 'auto_notify' };
}

function causesOf(answers: readonly ReportedAnswer[]): AnswerReport['causes'] {
  const groups = Map.groupBy(answers, ({ category, title }) => `${category} ${title}`);
  const causes = [...groups.values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [{ category: first.category, title: first.title, count: more.length + 1 }],
  );
  return causes.sort((left, right) => right.count - left.count).slice(0, MAX_CAUSES);
}
