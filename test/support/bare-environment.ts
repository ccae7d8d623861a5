import { resolve } from 'node:path';

/**
 * The environment of a child process: without this machine's settings, and with the code cache of earlier
 * processes.
 */
export const BARE = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../../node_modules/.cache/faultline-compiled'),
};
