import { Category, getKindRow, type Kind } from './category.ts';

/** The display names of the categories. Programs and searches use the codes. */
export const CATEGORY_WORDS: Readonly<Record<Category, string>> = {
  CODE_ERROR: 'Code error',
  TEST_FAILURE: 'Test failure',
  INFRA_ERROR: 'Infrastructure',
  CONFIG_ERROR: 'Configuration',
  DEPENDENCY_ERROR: 'Dependency',
};

const CODES = /\b(?:CODE_ERROR|TEST_FAILURE|INFRA_ERROR|CONFIG_ERROR|DEPENDENCY_ERROR)\b/g;

/** Replaces the codes of categories in a text by their display names. */
export function nameCodes(text: string): string {
  return text.replace(CODES, (code) => CATEGORY_WORDS[Category.parse(code)]);
}

/** Returns the display name of a kind: "missing module", "wrong value". */
export function nameKind(kind: Kind): string {
  return getKindRow(kind).label;
}

/** Returns the display name of a category. If none is stored, returns that it is another one. */
export function nameCategory(category: Category | null | undefined): string {
  return category == null ? 'another category' : CATEGORY_WORDS[category];
}
