/**
 * Where CI systems put a checkout. Each pattern takes away the workspace, so that the rest is relative to the repository:
 * GitHub's runners and containers, GitLab, Jenkins (with its `@2` copies), CircleCI, Azure, Bitbucket, Drone, and common images.
 */
const WORKSPACES: readonly RegExp[] = [
  /^\/home\/runner\/work\/[^/]+\/[^/]+\//,
  /^\/Users\/runner\/work\/[^/]+\/[^/]+\//,
  /^\/__w\/[^/]+\/[^/]+\//,
  /^[A-Za-z]:\/a\/[^/]+\/[^/]+\//,
  /^\/home\/vsts\/work\/\d+\/s\//,
  /^\/(?:__w|azp\/_work)\/\d+\/s\//,
  /^[A-Za-z]:\/a\/\d+\/s\//,
  /^\/github\/workspace\//,
  /^\/builds\/[^/]+\/[^/]+\//,
  /^(?:[A-Za-z]:)?\/(?:[^/]+\/){0,6}workspace\/[^/]+@\d+\//,
  /^(?:[A-Za-z]:)?\/(?:[^/]+\/){0,6}(?:jenkins|jenkins_home|\.jenkins|agent)\/workspace\/[^/]+\//i,
  /^\/home\/circleci\/(?:project|repo)\//,
  /^\/root\/(?:project|repo)\//,
  /^\/opt\/atlassian\/pipelines\/agent\/build\//,
  /^\/drone\/src\//,
  /^\/woodpecker\/src\/[^/]+\/[^/]+\/[^/]+\//,
];

/** Folders that images like to mount a checkout on; they may as well be the repository's own first folder. */
const MOUNT = /^\/(?:workspaces?|app|src|code|project|repo|build|usr\/src\/(?:app|project))\//;

/** Code that others wrote: its paths name nothing in the repository, though a suffix of them might. */
const FOREIGN =
  /(?:^|\/)(?:node_modules|site-packages|dist-packages|\.m2|\.gradle|\.cargo\/registry|go\/pkg\/mod|pkg\/mod|rustc|vendor\/bundle|gems|hostedtoolcache|\.nuget)\/|^\/usr\/(?:lib|local\/(?:lib|go)|include|share)\/|^(?:node|java|jdk\.internal):/;

/** Longest path worth looking at. */
const MAX_PATH = 1_024;

/**
 * Paths in the repository that a path from a log may mean, most likely first: without the workspace, then ever shorter
 * suffixes. At least two segments stay where there were two: a bare `index.js` would match anything. Empty for
 * runtime and library code, and for text that is no path.
 */
export function repositoryPathCandidates(logged: string): string[] {
  const path = forwardSlashes(logged);
  if (path === '' || path.length > MAX_PATH || /[\u0000-\u001f]/.test(path) || FOREIGN.test(path)) return [];
  const segments = segmentsOf(withoutWorkspace(path));
  const fewest = MOUNT.test(path) ? 1 : Math.min(segments.length, 2);
  const candidates: string[] = [];
  for (let start = 0; segments.length - start >= fewest && start < segments.length; start += 1) {
    candidates.push(segments.slice(start).join('/'));
  }
  return candidates;
}

function forwardSlashes(logged: string): string {
  return logged
    .trim()
    .replace(/^file:\/\/(?:localhost)?/, '')
    .replace(/^(?:webpack|webpack-internal):\/\/\/?(?:\.\/)?/, '')
    .replaceAll('\\', '/')
    .replace(/^\/([A-Za-z]:\/)/, '$1');
}

function withoutWorkspace(path: string): string {
  for (const workspace of WORKSPACES) {
    const rest = path.replace(workspace, '');
    if (rest !== path && rest !== '') return rest;
  }
  return path;
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
