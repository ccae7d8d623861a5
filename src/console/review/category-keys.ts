import type { Category } from '../../domain/category.ts';

/** The categories in the order of the digits that choose them, wherever a reviewer names one. */
export const CATEGORY_KEYS: readonly Category[] = ['CODE_ERROR', 'TEST_FAILURE', 'INFRA_ERROR', 'CONFIG_ERROR', 'DEPENDENCY_ERROR'];
