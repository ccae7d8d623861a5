import type { Extractor } from './extraction.ts';
import { TEST_EXTRACTORS } from './tests/all.ts';
import { TOOL_EXTRACTORS } from './tools/all.ts';

/** Every reader of tool output, most specific first: test frameworks, then build tools. A new family is one file and one line in one of the two. */
export const EXTRACTORS: readonly Extractor[] = [...TEST_EXTRACTORS, ...TOOL_EXTRACTORS];
