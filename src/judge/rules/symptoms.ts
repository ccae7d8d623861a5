/** Rules that say only that something did not compile. */
export const GENERIC_COMPILE: readonly string[] = [
  'compiler-diagnostic',
  'generic-compile-step',
  'go-build-failed',
  'cargo-build-failed',
];

/** Rules for missing files and programs, which are often the consequence of something else. */
export const MISSING_THINGS: readonly string[] = [
  'path-missing',
  'build-program-missing',
  'script-path-missing',
  'command-not-found',
  'file-permission',
];
