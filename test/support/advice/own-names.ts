/**
 * The names that a tool's log need not print, because everybody who runs the tool has them: its own commands,
 * files and options. The words identify the logs of the tool.
 */
const OWN_NAMES: readonly (readonly [words: RegExp, names: readonly string[]])[] = [
  [/\bcargo\b|\brustc\b|\bDiff in \S{1,200}\.rs:\d/, ['Cargo.toml', 'Cargo.lock', 'cargo fmt']],
  [/\bgo: |\bgo\.sum\b|\bgo\.mod\b|\.go:\d/, ['go.mod', 'go.sum', 'go mod']],
  [/\bnpm (?:error|ERR!)/, ['package.json', 'package-lock.json', 'working-directory']],
  [/JavaScript heap out of memory/, ['NODE_OPTIONS', '--max-old-space-size']],
  [/eslint\.config\.\(?js/, ['8']],
  [/Imports are incorrectly sorted/i, ['isort']],
  [/\\r|\^M/, ['.gitattributes']],
];
/**
 * The pattern of the first version that has a member of a standard library. It comes from the tables in
 * src/judge/versions, not from the log.
 */
const SINCE = /\b(?:to|before) (\d{1,4}(?:\.\d{1,3})*)(?= or newer, which has `| in the job, or replace `)/g;

/** Returns the names that advice on a log may hold although the log does not print them. */
export function findOwnNames(text: string, advice: string): ReadonlySet<string> {
  const ofTools = OWN_NAMES.flatMap(([words, names]) => (words.test(text) ? names : []));
  // The version of a class file is the version of Java plus 44.
  const ofClassFiles = text.matchAll(/wrong version (\d{2})(?:\.\d)?, should be (\d{2})/g);
  const releases = Array.from(ofClassFiles, ([, needs, has]) =>
    [needs, has].map((one) => `${Number(one) - 44}`),
  );
  const since = Array.from(advice.matchAll(SINCE), ([, version = '']) => version);
  return new Set([ofTools, since, releases.flat()].flat());
}
