import type { Extractor } from './extraction.ts';
import { phrases } from './phrases.ts';

/** Every reader of tool output, most specific first. A new family is one file and one line here. */
export const EXTRACTORS: readonly Extractor[] = [phrases];
