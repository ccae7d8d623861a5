import { resolve } from 'node:path';

/**
 * The environment of a child process: without this machine's settings, and with the code cache of earlier
 * processes.
 */
export const BARE = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../../node_modules/.cache/faultline-compiled'),
};

/**
 * The option of V8 for a process that ends soon: the WebAssembly of a database is compiled once, not again
 * after it has run for a while.
 */
export const COMPILE_ONCE = '--wasm-tiering-budget=100000000';

/**
 * Options of Node for a child process that runs a script of test/support and loads the program: it resolves
 * imports as `faultline` does.
 */
export const SCRIPT_OPTIONS = [
  '--import',
  new URL('../../src/cli/resolve-directly.ts', import.meta.url).href,
  COMPILE_ONCE,
];
