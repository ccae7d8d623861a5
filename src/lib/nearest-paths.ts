/** The maximum number of paths that are proposed. */
const MAX_NEAREST = 5;
/** The maximum number of paths with similar names whose folders are compared. */
const MAX_COMPARED = 500;
/** The minimum share of common letter pairs for two names to be similar. */
const ALIKE = 0.5;
/** The most that the folders of a path add to the similarity of its name. */
const FOLDERS = 0.2;
/** The bonus for the same ending, as a share. */
const ENDING = 0.1;

/**
 * Returns the paths whose names resemble that of a missing one, the nearest first: by the pairs of letters
 * that the names have in common (Dice's coefficient), then by common folders and the same ending.
 */
export function findNearestPaths(wanted: string, paths: readonly string[]): string[] {
  const pairs = listPairs(getStem(wanted));
  const folders = new Set(wanted.toLowerCase().split('/').slice(0, -1));
  const ending = getEnding(wanted);
  const alike = paths.flatMap((path) => {
    const share = compare(pairs, getStem(path));
    return share < ALIKE ? [] : [{ path, share }];
  });
  const closest = alike.sort((left, right) => right.share - left.share).slice(0, MAX_COMPARED);
  const rated = closest.map(({ path, share }) => {
    const common = path
      .toLowerCase()
      .split('/')
      .slice(0, -1)
      .filter((folder) => folders.has(folder)).length;
    const beside = folders.size === 0 ? 0 : (FOLDERS * Math.min(common, folders.size)) / folders.size;
    return { path, score: share + beside + (getEnding(path) === ending ? ENDING : 0) };
  });
  const sorted = rated.sort((left, right) => right.score - left.score || (left.path < right.path ? -1 : 1));
  return sorted.slice(0, MAX_NEAREST).map(({ path }) => path);
}

/** Returns the name of a file without its ending, in lower case. */
export function getStem(path: string): string {
  const start = path.lastIndexOf('/') + 1;
  const end = path.lastIndexOf('.');
  return path.slice(start, end > start ? end : undefined).toLowerCase();
}

function getEnding(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1).toLowerCase();
}

function listPairs(name: string): ReadonlySet<string> {
  return new Set(Array.from({ length: Math.max(1, name.length - 1) }, (_, at) => name.slice(at, at + 2)));
}

function compare(pairs: ReadonlySet<string>, name: string): number {
  const size = Math.max(1, name.length - 1);
  // A name that is far longer or shorter has too few pairs in common.
  if (size > 3 * pairs.size || pairs.size > 3 * size) return 0;
  let common = 0;
  for (let at = 0; at < size; at += 1) common += Number(pairs.has(name.slice(at, at + 2)));
  return (2 * common) / (pairs.size + size);
}
