import type { Category, Kind } from './category.ts';

/** The words for the categories where people read; programs and searches use the codes. */
export const CATEGORY_WORDS: Readonly<Record<Category, string>> = {
  CODE_ERROR: 'Code error',
  TEST_FAILURE: 'Test failure',
  INFRA_ERROR: 'Infrastructure',
  CONFIG_ERROR: 'Configuration',
  DEPENDENCY_ERROR: 'Dependency',
};

/** Kinds whose code reads badly as words. */
const KIND_WORDS: Partial<Record<Kind, string>> = {
  assertion: 'wrong value',
  snapshot: 'changed snapshot',
  flaky_timing: 'flaky timing',
  threshold: 'missed threshold',
  timeout: 'time limit',
  network: 'no connection',
  permission_or_secret: 'permission or secret',
  workflow_config: 'workflow file',
  unknown: 'unknown kind',
};

/** Names a kind for people: "missing module", "wrong value". */
export function nameKind(kind: Kind): string {
  return KIND_WORDS[kind] ?? kind.replaceAll('_', ' ');
}

/** Names a category for people; where none was stored, says that it is another one. */
export function nameCategory(category: Category | null | undefined): string {
  return category == null ? 'another category' : CATEGORY_WORDS[category];
}
