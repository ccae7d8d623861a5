import type { Extractor } from './extraction.ts';
import { TEST_EXTRACTORS } from './tests/all.ts';
import { TOOL_EXTRACTORS } from './tools/all.ts';

/** Every reader of tool output, most specific first: test frameworks, then build tools. A new tool is a row of a table in `tools/`. */
export const EXTRACTORS: readonly Extractor[] = [...TEST_EXTRACTORS, ...TOOL_EXTRACTORS];
