import { resolve } from 'node:path';

/** What a child process is given: nothing of this machine's settings, and code that an earlier one compiled. */
export const BARE = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../../node_modules/.cache/faultline-compiled'),
};
