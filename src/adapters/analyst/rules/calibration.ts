import { CATEGORIES, type Category, type CategoryProbabilities } from '../../../domain/category.ts';
import { KIND_CATEGORY, type Kind } from '../../../domain/kind.ts';

/** What a kind is at times taken for: the category it turns out to be, and in which share of cases. */
interface Rival {
  readonly category: Category;
  readonly share: number;
}

/*
 * However loud the evidence, a kind turns out to be something else in some cases; the rivals follow the ties of the taxonomy. Three
 * steps are enough: SELDOM is the least that no evidence gets below, OFTEN and AT_TIMES are rounded from how often the two sets of
 * docs/rules-analyst.md disagree with a kind (compile errors 0 of 44 without what TOLD covers,
 * environment 2 of 9, permissions 2 of 13; few rows, so rounded up).
 */
const SELDOM = 0.02;
const AT_TIMES = 0.05;
const OFTEN = 0.08;
/**
 * The build itself tells of the rival beside what was found. Of 48 builds with compile errors in the two sets, people called four a missing
 * library: those that had also failed to resolve an artifact. A log does not tell whether that was the cause (the same errors without
 * that warning were called our own code), so the category stays and a person is asked.
 */
const TOLD = 0.25;

const RIVALS: Readonly<Record<Kind, Rival>> = {
  compile_error: { category: 'DEPENDENCY_ERROR', share: AT_TIMES },
  type_error: { category: 'DEPENDENCY_ERROR', share: AT_TIMES },
  link_error: { category: 'DEPENDENCY_ERROR', share: AT_TIMES },
  null_reference: { category: 'TEST_FAILURE', share: OFTEN },
  crash: { category: 'TEST_FAILURE', share: OFTEN },
  lint_failure: { category: 'CONFIG_ERROR', share: AT_TIMES },
  formatting_failure: { category: 'DEPENDENCY_ERROR', share: SELDOM },
  assertion: { category: 'CODE_ERROR', share: SELDOM },
  snapshot: { category: 'CODE_ERROR', share: AT_TIMES },
  flaky_timing: { category: 'CODE_ERROR', share: AT_TIMES },
  timeout: { category: 'TEST_FAILURE', share: AT_TIMES },
  out_of_memory: { category: 'CODE_ERROR', share: AT_TIMES },
  disk_full: { category: 'CONFIG_ERROR', share: SELDOM },
  network: { category: 'CONFIG_ERROR', share: AT_TIMES },
  service_unavailable: { category: 'DEPENDENCY_ERROR', share: AT_TIMES },
  runner_lost: { category: 'CONFIG_ERROR', share: SELDOM },
  rate_limited: { category: 'CONFIG_ERROR', share: SELDOM },
  permission_or_secret: { category: 'INFRA_ERROR', share: OFTEN },
  workflow_config: { category: 'CODE_ERROR', share: AT_TIMES },
  environment: { category: 'DEPENDENCY_ERROR', share: OFTEN },
  missing_file: { category: 'CODE_ERROR', share: OFTEN },
  missing_module: { category: 'CONFIG_ERROR', share: AT_TIMES },
  version_conflict: { category: 'CODE_ERROR', share: SELDOM },
  dependency_install: { category: 'CONFIG_ERROR', share: SELDOM },
  docker_build: { category: 'DEPENDENCY_ERROR', share: AT_TIMES },
  unknown: { category: 'DEPENDENCY_ERROR', share: AT_TIMES },
};

/** Kinds that a library which did not arrive looks like. */
const COMPILED: ReadonlySet<Kind> = new Set(['compile_error', 'type_error', 'link_error'] satisfies Kind[]);

/** Inverse temperature (Guo et al. 2017, arXiv 1706.04599): between 0.7 and 0.95 the softmax was right more often than it said. */
const SHARPNESS = 1.6;

/**
 * Probabilities as they turned out: sharpened, and a share of the found category's handed to what it is at times taken for. The found
 * category stays first; for one kind its probability only rises with its evidence, and never above one minus the rival's share. The
 * sum stays 1 up to rounding. `unresolved`: the build says beside it that something it depends on could not be had.
 */
export function calibrate(
  probabilities: CategoryProbabilities,
  found: { readonly category: Category; readonly kind: Kind; readonly unresolved?: boolean },
): CategoryProbabilities {
  const total = CATEGORIES.reduce((sum, category) => sum + probabilities[category] ** SHARPNESS, 0);
  const sharp = (category: Category) => probabilities[category] ** SHARPNESS / total;
  const rival = rivalOf(found);
  // Where another is close already less is handed over, so that none overtakes.
  const next = Math.max(...CATEGORIES.filter((category) => category !== found.category).map(sharp));
  const handed = Math.max(0, Math.min(rival.share * sharp(found.category), (sharp(found.category) - next) / 4));
  const shared = (category: Category) => {
    const moved = category === found.category ? -handed : category === rival.category ? handed : 0;
    return Math.round((sharp(category) + moved) * 1e4) / 1e4;
  };
  return {
    CODE_ERROR: shared('CODE_ERROR'),
    INFRA_ERROR: shared('INFRA_ERROR'),
    CONFIG_ERROR: shared('CONFIG_ERROR'),
    DEPENDENCY_ERROR: shared('DEPENDENCY_ERROR'),
    TEST_FAILURE: shared('TEST_FAILURE'),
  };
}

/** The rival of a kind; a kind under a category that is its rival has the category it usually belongs to as rival. */
function rivalOf({ category, kind, unresolved }: Parameters<typeof calibrate>[1]): Rival {
  const rival = RIVALS[kind];
  if (unresolved === true && COMPILED.has(kind) && category === 'CODE_ERROR') return { category: 'DEPENDENCY_ERROR', share: TOLD };
  return rival.category === category ? { ...rival, category: KIND_CATEGORY[kind] } : rival;
}
