import { sourcePathsOf } from './dotted-names.ts';
import { plainPath } from './path-forms.ts';
import { withoutWorkspace } from './workspaces.ts';

/** Folders that images like to mount a checkout on; they may as well be the repository's own first folder. `a/`, `b/`: a diff's sides. */
const MOUNT = /^(?:\/(?:workspaces?|app|srv|src|code|project|repo|build|source|work|workdir|opt\/app|data)\/|[abiw]\/)/;

/** Code that others wrote: its paths name nothing in the repository, though a suffix of them might. */
const FOREIGN: readonly RegExp[] = [
  /(?:^|\/)(?:node_modules|site-packages|dist-packages|\.m2|\.gradle|\.cargo\/registry|\.cargo\/git|go\/pkg\/mod|pkg\/mod|rustc|vendor\/bundle|gems|hostedtoolcache|\.nuget|\.pub-cache|\.pnpm|\.yarn|\.ivy2|\.konan)\//,
  /^\/usr\/(?:lib|local\/(?:lib|go|Cellar)|include|share)\/|^\/Library\/|^\/opt\/(?:java|jdk|conda|homebrew)/,
  /^(?:node|java|jdk\.internal|deno|bun|internal):/,
  /^<[^>]{1,80}>|\.jar!|^[A-Za-z]:\/(?:Program Files|hostedtoolcache|Python\d)/,
  // Bazel's other repositories; a module of Go with its version, as -trimpath prints it.
  /(?:^|\/)execroot\/[^/]{1,120}\/external\/|^external\/[^/]{1,120}\/|\.runfiles\/(?!_main\/|__main__\/)[^/]{1,120}~/,
  /^[^@]{1,200}@v\d{1,4}\.\d{1,6}\.[^/]{1,80}\//,
];

/** Whether the path lies in a package, a runtime or a toolchain. */
function isForeign(path: string): boolean {
  return FOREIGN.some((pattern) => pattern.test(path));
}

/**
 * Paths in the repository that a path from a log may mean, most likely first: without the workspace, then ever shorter
 * suffixes. At least two segments stay where there were two: a bare `index.js` would match anything. A class or module by its
 * dotted name stands for its source files. Empty for runtime and library code, and for text that is no path.
 */
export function repositoryPathCandidates(logged: string): string[] {
  const path = plainPath(logged);
  if (path === '' || isForeign(path)) return [];
  const dotted = sourcePathsOf(path);
  if (dotted.length > 0) return [path, ...dotted];
  const segments = segmentsOf(withoutWorkspace(path));
  const fewest = MOUNT.test(path) ? 1 : Math.min(segments.length, 2);
  const candidates: string[] = [];
  for (let start = 0; segments.length - start >= fewest && start < segments.length; start += 1) {
    candidates.push(segments.slice(start).join('/'));
  }
  return candidates;
}

/** The path inside the repository as far as one can tell without it: no URL, no position, no workspace. */
export function projectPath(logged: string): string {
  const path = plainPath(logged);
  return path === '' ? logged : withoutWorkspace(path).replace(/^\.\//, '');
}

/** Without the drive, empty and `.` segments; `..` takes away what stands before it and never leads outside. */
function segmentsOf(path: string): string[] {
  const segments: string[] = [];
  for (const segment of path.replace(/^[A-Za-z]:\//, '').split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return segments;
}
