#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// Before anything else is loaded: the second start then neither strips types nor compiles again. Where the folder cannot be
// written, or NODE_DISABLE_COMPILE_CACHE is set, it quietly does nothing.
enableCompileCache(process.env.NODE_COMPILE_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'faultline'));

const { runProgram } = await import('./run-program.ts');
await runProgram(process.argv);
