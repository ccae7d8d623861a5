import { z } from 'zod';

/**
 * The categories of failures: each says who has to act and where to look first. The category is decided by
 * the cause that the failing step supports, not by the stage in which the failure surfaced.
 */
export const CATEGORIES = [
  'CODE_ERROR',
  'INFRA_ERROR',
  'CONFIG_ERROR',
  'DEPENDENCY_ERROR',
  'TEST_FAILURE',
] as const;
export const Category = z.enum(CATEGORIES);
export type Category = z.infer<typeof Category>;

/** One probability per category; they sum to 1. */
const Probability = z.number().min(0).max(1);
export const CategoryProbabilities = z.object(mapCategories(() => Probability));
export type CategoryProbabilities = z.infer<typeof CategoryProbabilities>;

/** Creates a record with one value for each category. */
export function mapCategories<Value>(of: (category: Category) => Value): Record<Category, Value> {
  return {
    CODE_ERROR: of('CODE_ERROR'),
    INFRA_ERROR: of('INFRA_ERROR'),
    CONFIG_ERROR: of('CONFIG_ERROR'),
    DEPENDENCY_ERROR: of('DEPENDENCY_ERROR'),
    TEST_FAILURE: of('TEST_FAILURE'),
  };
}

/**
 * Each kind with the category it usually belongs to. The kind refines the category for people and for
 * knowledge documents.
 */
export const KIND_CATEGORY = {
  compile_error: 'CODE_ERROR',
  type_error: 'CODE_ERROR',
  null_reference: 'CODE_ERROR',
  crash: 'CODE_ERROR',
  link_error: 'CODE_ERROR',
  lint_failure: 'CODE_ERROR',
  formatting_failure: 'CODE_ERROR',
  assertion: 'TEST_FAILURE',
  snapshot: 'TEST_FAILURE',
  flaky_timing: 'TEST_FAILURE',
  threshold: 'TEST_FAILURE',
  timeout: 'INFRA_ERROR',
  out_of_memory: 'INFRA_ERROR',
  disk_full: 'INFRA_ERROR',
  descriptor_limit: 'INFRA_ERROR',
  network: 'INFRA_ERROR',
  service_unavailable: 'INFRA_ERROR',
  runner_lost: 'INFRA_ERROR',
  rate_limited: 'INFRA_ERROR',
  permission_or_secret: 'CONFIG_ERROR',
  workflow_config: 'CONFIG_ERROR',
  environment: 'CONFIG_ERROR',
  missing_file: 'CONFIG_ERROR',
  process_gate: 'CONFIG_ERROR',
  upstream_job: 'CONFIG_ERROR',
  missing_module: 'DEPENDENCY_ERROR',
  version_conflict: 'DEPENDENCY_ERROR',
  dependency_install: 'DEPENDENCY_ERROR',
  vulnerability: 'DEPENDENCY_ERROR',
  docker_build: 'CONFIG_ERROR',
  unknown: 'CODE_ERROR',
} as const satisfies Record<string, Category>;

export type Kind = keyof typeof KIND_CATEGORY;
export const KINDS: readonly Kind[] = Object.keys(KIND_CATEGORY).filter(isKind);
export const Kind = z.enum(KINDS);

/**
 * Kinds that stop what comes after them where they end a step, and every test that needs what is missing.
 */
export const STOPPING_KINDS: ReadonlySet<Kind> = new Set<Kind>([
  'compile_error',
  'link_error',
  'missing_module',
  'version_conflict',
  'dependency_install',
  'docker_build',
  'out_of_memory',
  'disk_full',
  'network',
  'service_unavailable',
  'runner_lost',
  'rate_limited',
  'permission_or_secret',
  'workflow_config',
  'environment',
  'missing_file',
  'descriptor_limit',
]);

/** Kinds that come and go without a change. */
export const UNSTABLE_KINDS: ReadonlySet<Kind> = new Set<Kind>([
  'flaky_timing',
  'timeout',
  'network',
  'service_unavailable',
  'runner_lost',
  'rate_limited',
]);

function isKind(name: string): name is Kind {
  return Object.hasOwn(KIND_CATEGORY, name);
}
