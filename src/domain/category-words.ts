import { type Category, getKindRow, type Kind } from './category.ts';

/** The words for the categories where people read; programs and searches use the codes. */
export const CATEGORY_WORDS: Readonly<Record<Category, string>> = {
  CODE_ERROR: 'Code error',
  TEST_FAILURE: 'Test failure',
  INFRA_ERROR: 'Infrastructure',
  CONFIG_ERROR: 'Configuration',
  DEPENDENCY_ERROR: 'Dependency',
};

/** Names a kind for people: "missing module", "wrong value". */
export function nameKind(kind: Kind): string {
  return getKindRow(kind).label;
}

/** Names a category for people; where none was stored, says that it is another one. */
export function nameCategory(category: Category | null | undefined): string {
  return category == null ? 'another category' : CATEGORY_WORDS[category];
}
