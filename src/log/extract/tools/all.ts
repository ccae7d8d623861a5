import type { Extractor } from '../extraction.ts';
import { anyTool, namedTools } from './any-tool.ts';
import { BUILDERS } from './builders.ts';
import { commands } from './commands.ts';
import { COMPILERS } from './compilers.ts';
import { crashes, sanitizers } from './crashes.ts';
import { ansible, DELIVERY } from './delivery.ts';
import { readersOf } from './diagnostics.ts';
import { LINTERS } from './linters.ts';
import { listings } from './listings.ts';
import { PACKAGE_MANAGERS } from './packages.ts';
import { phrases } from './phrases.ts';
import { records } from './records.ts';
import { shell } from './shell.ts';
import { moreTraces, pythonTraceback, stackTrace } from './traces.ts';

/**
 * Readers of build tools, linters, package managers and infrastructure; they come after those of test frameworks. First the tools that are
 * known by name, then traces and crashes, then the shapes of tools that nobody taught us, and at last the nets.
 */
// biome-ignore format: one line for each kind of tool
export const TOOL_EXTRACTORS: readonly Extractor[] = [
  namedTools, listings,
  ...readersOf(LINTERS), ...readersOf(COMPILERS), ...readersOf(BUILDERS), ...readersOf(PACKAGE_MANAGERS), ...readersOf(DELIVERY), ansible,
  sanitizers, crashes, pythonTraceback, stackTrace, moreTraces, records,
  anyTool,
  ...shell, phrases, commands,
];
