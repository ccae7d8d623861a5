#!/usr/bin/env node
// First of all.
import './keep-tracing-off.ts';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Before anything else is loaded: the second start then neither strips types nor compiles again. Where the
// folder cannot be written, or NODE_DISABLE_COMPILE_CACHE is set, it quietly does nothing.
const { HOME, XDG_CACHE_HOME, NODE_COMPILE_CACHE } = process.env;
const caches = XDG_CACHE_HOME || (HOME ? join(HOME, '.cache') : undefined);
enableCompileCache(NODE_COMPILE_CACHE || (caches ? join(caches, 'faultline') : undefined));

const { runProgram } = await import('./program.ts');
await runProgram(process.argv);
