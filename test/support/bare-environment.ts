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
 * Options of Node for a child process that runs a script of test/support and loads the program: it resolves
 * imports as `faultline` does, and compiles a database's WebAssembly once, because it ends within seconds.
 */
export const SCRIPT_OPTIONS = [
  '--import',
  new URL('../../src/cli/resolve-directly.ts', import.meta.url).href,
  '--wasm-tiering-budget=100000000',
];
