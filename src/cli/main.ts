#!/usr/bin/env node
// This must be the first import.
import './keep-tracing-off.ts';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// This must run before anything else is loaded. On the next start, types are not stripped and nothing is
// compiled again. It does nothing if the folder is not writable or NODE_DISABLE_COMPILE_CACHE is set.
const { HOME, XDG_CACHE_HOME, NODE_COMPILE_CACHE } = process.env;
const caches = XDG_CACHE_HOME || (HOME ? join(HOME, '.cache') : undefined);
enableCompileCache(NODE_COMPILE_CACHE || (caches ? join(caches, 'faultline') : undefined));

await import('./resolve-directly.ts');
const { runProgram } = await import('./program.ts');
await runProgram(process.argv);
