/**
 * Folders that images like to mount a checkout on; they may as well be the repository's own first folder.
 * `a/`, `b/`: a diff's sides.
 */
const MOUNT =
  /^(?:\/(?:workspaces?|app|srv|src|code|project|repo|build|source|work|workdir|opt\/app|data)\/|[abiw]\/)/;

/** Code that others wrote: its paths name nothing in the repository, though a suffix of them might. */
const FOREIGN: readonly RegExp[] = [
  new RegExp(
    String.raw`(?:^|/)(?:node_modules|site-packages|dist-packages|\.m2|\.gradle|\.cargo/registry|` +
      String.raw`\.cargo/git|go/pkg/mod|pkg/mod|rustc|vendor/bundle|gems|hostedtoolcache|` +
      String.raw`\.nuget|\.pub-cache|\.pnpm|\.yarn|\.ivy2|\.konan)/`,
  ),
  /^\/usr\/(?:lib|local\/(?:lib|go|Cellar)|include|share)\/|^\/Library\/|^\/opt\/(?:java|jdk|conda|homebrew)/,
  /^(?:node|java|jdk\.internal|deno|bun|internal):/,
  /^<[^>]{1,80}>|\.jar!|^[A-Za-z]:\/(?:Program Files|hostedtoolcache|Python\d)/,
  // Bazel's other repositories; a module of Go with its version, as -trimpath prints it.
  new RegExp(
    '(?:^|/)execroot/[^/]{1,120}/external/|^external/[^/]{1,120}/|' +
      String.raw`\.runfiles/(?!_main/|__main__/)[^/]{1,120}~`,
  ),
  /^[^@]{1,200}@v\d{1,4}\.\d{1,6}\.[^/]{1,80}\//,
];

/**
 * Paths in the repository that a path from a log may mean, most likely first: without the workspace, then
 * ever shorter suffixes. At least two segments stay where there were two: a bare `index.js` would match
 * anything. A class or module by its dotted name represents its source files. Empty for runtime and library
 * code, and for text that is no path.
 */
export function listRepositoryPaths(logged: string): string[] {
  const path = unwrapPath(logged);
  if (path === '' || FOREIGN.some((pattern) => pattern.test(path))) return [];
  const dotted = listSourcePaths(path);
  if (dotted.length > 0) return [path, ...dotted];
  const segments = splitSegments(withoutWorkspace(path));
  const fewest = MOUNT.test(path) ? 1 : Math.min(segments.length, 2);
  const candidates: string[] = [];
  for (let start = 0; segments.length - start >= fewest && start < segments.length; start += 1) {
    candidates.push(segments.slice(start).join('/'));
  }
  return candidates;
}

/**
 * Returns the path inside the repository as far as it can be determined without the repository: no URL, no
 * position, no workspace.
 */
export function getProjectPath(logged: string): string {
  const path = unwrapPath(logged);
  return path === '' ? logged : withoutWorkspace(path).replace(/^\.\//, '');
}

/**
 * Splits a path into segments, without the drive, empty and `.` segments; `..` removes the segment before it
 * and never leads outside.
 */
function splitSegments(path: string): string[] {
  const segments: string[] = [];
  for (const segment of path.replace(/^[A-Za-z]:\//, '').split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return segments;
}

const JVM_ENDINGS = ['java', 'kt', 'scala', 'groovy'];
/** Endings of files, so that `tax.test.ts` or `setup.cfg` is no dotted name. */
const FILE_ENDING = new RegExp(
  String.raw`\.(?:[cm]?[jt]sx?|vue|svelte|py|pyi|rb|go|rs|php|java|kts?|scala|groovy|cs|fs|vb|c|cc|` +
    'cpp|cxx|h|hh|hpp|m|mm|swift|dart|exs?|erl|hs|ml|clj|pl|pm|lua|r|jl|sh|bash|sql|ya?ml|' +
    'json|toml|xml|html?|css|scss|md|txt|cfg|ini|lock|gradle|properties|tf|proto|bzl|mk)$',
  'i',
);

/**
 * Lists the source files that a class or module represents, most likely first: `com.shop.Cart$Line.total` →
 * `com/shop/Cart.java` and its siblings of other JVM languages, `shop.cart.Total` → `shop/cart.py`. For Go's
 * `github.com/shop/api/cart.Total` the result is empty, because the name does not identify a file in the
 * folder `cart`. Empty for everything that is not a dotted name.
 */
function listSourcePaths(name: string): string[] {
  const dotted = name.replace(/\$.{0,300}$/s, '');
  if (
    dotted.includes('/') ||
    FILE_ENDING.test(dotted) ||
    !/^[A-Za-z_]\w{0,100}(?:\.[A-Za-z_]\w{0,100}){1,20}$/.test(dotted)
  )
    return [];
  const parts = dotted.split('.');
  const classAt = parts.findIndex((part) => /^[A-Z]/.test(part));
  if (classAt < 0) return listModulePaths(parts);
  const jvm = parts.slice(0, classAt + 1).join('/');
  const module = classAt === 0 ? [] : listModulePaths(parts.slice(0, classAt), true);
  return [...JVM_ENDINGS.map((ending) => `${jvm}.${ending}`), ...module];
}

/** Lists the paths of a module, or of a function in a module; a package's own file is last. */
function listModulePaths(parts: readonly string[], whole = false): string[] {
  const module = parts.join('/');
  const outer = parts.length > 2 && !whole ? [`${parts.slice(0, -1).join('/')}.py`] : [];
  return [`${module}.py`, ...outer, `${module}/__init__.py`];
}

const MAX_PATH = 1_024;

/**
 * Removes what a tool wrapped around a path: file and bundler URLs with their query, Windows separators and
 * prefixes, the drives of MSYS, Cygwin and WSL, a position after it (`tax.ts:41:9`, `Tax.cs(41,9)`, `#L41`),
 * and compiled or covered copies of a source. Returns an empty string for text that is not a path.
 */
function unwrapPath(logged: string): string {
  const text = logged.trim();
  if (text.length === 0 || text.length > MAX_PATH || /[\u0000-\u001f]/.test(text)) return '';
  const path = withoutUrl(withoutQuotes(text)).replaceAll('\\', '/');
  return resolveSource(withoutPosition(withDrive(path)));
}

function withoutQuotes(text: string): string {
  const [first = ''] = text;
  return text.length > 2 && '"\'`'.includes(first) && text.endsWith(first) ? text.slice(1, -1) : text;
}

/** Bundlers name modules by URLs of their own; a dev server by one of its files. */
function withoutUrl(text: string): string {
  if (!/^[a-z][a-z+-]{1,30}:\/|^\/@fs\//i.test(text) || /^[a-z]:/i.test(text)) return text;
  const bare = text
    .replace(/^file:\/\/localhost(?=\/)/i, '')
    .replace(/^file:\/{2}(?=\/)|^file:(?=\/(?!\/))|^file:\/\//i, '')
    .replace(
      /^(?:webpack-internal|webpack|rollup|ng|vite|rspack):\/{2,3}(?:[\w@.-]{1,80}\/(?=\.\/))?(?:\([\w-]{1,40}\)\/)?(?:\.\/)?/i,
      '',
    )
    .replace(/^turbopack:\/{2,3}(?:\[project\]\/)?/i, '')
    .replace(/^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?\//i, '')
    .replace(/^\/?@fs(?=\/)/, '');
  return decode(bare.replace(/\?[^?]{0,500}$/, ''));
}

function decode(text: string): string {
  try {
    return /%[0-9A-Fa-f]{2}/.test(text) ? decodeURIComponent(text) : text;
  } catch {
    return text;
  }
}

/**
 * Normalizes the drive of a path: `\\?\C:\x`, `/C:/x`, `/c/x` of MSYS, `/cygdrive/c/x`, `/mnt/c/x` all name
 * drive C.
 */
function withDrive(path: string): string {
  return path
    .replace(/^\/\/[?.]\/(?=[A-Za-z]:\/)/, '')
    .replace(/^\/(?=[A-Za-z]:\/)/, '')
    .replace(/^\/(?:cygdrive\/|mnt\/)([A-Za-z])\//, '$1:/')
    .replace(
      /^\/([c-z])\/(?=(?:a|Users|projects|agent|actions-runner|Jenkins|jenkins|BuildAgent)\/)/,
      '$1:/',
    );
}

function withoutPosition(path: string): string {
  return path
    .replace(/:\d{1,7}(?:[:-]\d{1,7})?:?$/, '')
    .replace(/\(\d{1,7}(?:[,:]\d{1,7}){0,3}\)$/, '')
    .replace(/#L\d{1,7}(?:-L\d{1,7})?$/, '');
}

/** Returns the source from which a class file, cached byte code or a page of a coverage report was made. */
function resolveSource(path: string): string {
  return path
    .replace(
      /^(?:[^/]{1,120}\/){0,8}(?:target|build|out)\/(?:test-)?classes\/(?:(?:java|kotlin|groovy|scala)\/(?:main|test)\/)?/,
      '',
    )
    .replace(/(?:\$[^/$]{1,120}){0,4}\.class$/, '.java')
    .replace(/__pycache__\/([^/]{1,120})\.(?:cpython|pypy)-?\d{1,4}(?:-pytest-[\d.]{1,12})?\.pyc$/, '$1.py')
    .replace(/\.py[co]$/, '.py')
    .replace(/^(?:[^/]{0,120}\/){0,8}(?:lcov-report|htmlcov)\/(.{1,500}\.\w{1,5})\.html$/, '$1')
    .replace(/^(?:[^/]{0,120}\/){0,8}build\/lib(?:\.[\w.-]{1,60})?\/(?=.{1,500}\.py$)/, '');
}

/**
 * The folders in which CI systems, agents and build tools put a checkout, as their own documents name them.
 * Each pattern removes the workspace, so that the rest is relative to the repository; the more specific ones
 * come first.
 */
const WORKSPACES: readonly RegExp[] = [
  // Bazel: the sandbox, the execution root, and a test's runfiles; what it generates lies in the same
  // packages.
  /^(?:\/[^/]{1,120}){1,12}\/execroot\/[^/]{1,120}\/(?:bazel-out\/[^/]{1,120}\/(?:bin|genfiles|testlogs)\/)?/,
  /^\/?(?:[^/]{1,120}\/){0,14}[^/]{1,120}\.runfiles\/[^/]{1,120}\//,
  /^(?:bazel-out\/[^/]{1,120}\/(?:bin|genfiles|testlogs)|bazel-(?:bin|genfiles|testlogs))\//,
  // GitHub: hosted runners, job containers, Windows, actions in containers, and a runner of one's own.
  /^\/(?:home|Users)\/runner\/work\/(?!\d{1,4}\/[sabd]\/)[^/]{1,120}\/[^/]{1,120}\//,
  /^\/__w\/(?!\d{1,4}\/[sabd]\/)[^/]{1,120}\/[^/]{1,120}\//,
  /^[A-Za-z]:\/a\/(?!_work\/|\d{1,4}\/[sabd]\/)[^/]{1,120}\/[^/]{1,120}\//,
  /^\/github\/workspace\//,
  new RegExp(
    '^(?:[A-Za-z]:)?/(?:[^/]{1,120}/){0,5}(?:actions-runner|runner|actions)' +
      String.raw`/_work/(?!\d{1,4}/[sabd]/)[^/]{1,120}/[^/]{1,120}/`,
  ),
  // Gitea's and Forgejo's runners without containers, and act: `~/.cache/act/<hash>/hostexecutor`.
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,14}hostexecutor\//,
  // Azure: hosted agents on Linux, macOS and Windows, containers, and agents of one's own.
  /^\/(?:home\/vsts|Users\/runner|home\/runner)\/work\/\d{1,4}\/[sabd]\//,
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,5}(?:__w|_work|a)\/\d{1,4}\/[sabd]\//,
  // GitLab: the Docker executor, the shell executor with its token and slot, Firefox's workers.
  /^\/builds\/worker\/(?:checkouts|workspace)\/[^/]{1,120}\//,
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,4}builds\/[\w-]{6,20}\/\d{1,3}\/[^/]{1,120}\/[^/]{1,120}\//i,
  /^\/builds\/[^/]{1,120}\/[^/]{1,120}\//,
  // Jenkins, with the `@2` of a second executor and the `@script` of a pipeline.
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,6}workspace\/[^/]{1,120}@(?:\d{1,4}|script|tmp)\//,
  new RegExp(
    String.raw`^(?:[A-Za-z]:)?/(?:[^/]{1,120}/){0,6}(?:jenkins|jenkins_home|\.jenkins|` +
      'agent|jenkins-agent|slave)/workspace/[^/]{1,120}/',
    'i',
  ),
  // CircleCI, Bitbucket, Travis, Buildkite, Drone, Woodpecker, Semaphore, Cirrus, AppVeyor, Bitrise.
  /^\/(?:home\/circleci|root)\/(?:project|repo)\//,
  /^\/opt\/atlassian\/pipelines\/agent\/build\//,
  /^(?:\/(?:home|Users)\/travis|[A-Za-z]:\/Users\/travis)\/build\/[^/]{1,120}\/[^/]{1,120}\//,
  new RegExp(
    '^(?:[A-Za-z]:)?/(?:[^/]{1,120}/){0,4}buildkite(?:-agent)?' +
      '/builds/[^/]{1,120}/[^/]{1,120}/[^/]{1,120}/',
  ),
  /^\/drone\/src\//,
  /^\/woodpecker\/src\/[^/]{1,120}\/[^/]{1,120}\/[^/]{1,120}\//,
  /^\/home\/semaphore\/[^/]{1,120}\//,
  /^(?:\/tmp|[A-Za-z]:\/Users\/[^/]{1,60}\/AppData\/Local\/Temp|\/private\/tmp)\/cirrus-ci-build\//,
  /^[A-Za-z]:\/projects\/[^/]{1,120}\//,
  /^\/(?:Users\/vagrant\/git|bitrise\/src)\//,
  // CodeBuild, TeamCity, Bamboo, GoCD, Concourse, Heroku.
  new RegExp(
    String.raw`^/codebuild/output/[^/]{1,120}/src/(?:[\w.-]{1,80}\.(?:com|org|` +
      String.raw`net)/[^/]{1,120}/[^/]{1,120}/|s3/\d{1,3}/)?`,
  ),
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,4}build-?agent\/work\/[0-9a-f]{8,40}\//i,
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,5}xml-data\/build-dir\/[^/]{1,120}\//,
  /^\/(?:var\/lib\/go-agent|godata|go)\/pipelines\/[^/]{1,120}\//,
  /^\/tmp\/build\/[0-9a-f]{6,40}\/[^/]{1,120}\//,
  /^\/tmp\/build_[0-9a-f]{6,40}\//,
  // A GOPATH, a dev container, and mount folders of images that are not names of packages.
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,4}go\/src\/[\w.-]{1,80}\.[a-z]{2,6}\/[^/]{1,120}\/[^/]{1,120}\//,
  /^\/workspaces\/[^/]{1,120}\//,
  /^\/usr\/src\/(?:app|project|code|build)\//,
  /^\/var\/www\/html\//,
  /^\/home\/node\/app\//,
];

/**
 * Returns a path with `/` between its segments, without the folder into which a CI system checks out; the
 * unchanged path if no such folder is known.
 */
function withoutWorkspace(path: string): string {
  for (const workspace of WORKSPACES) {
    const rest = path.replace(workspace, '');
    if (rest !== path && rest !== '') return rest;
  }
  return path;
}

/**
 * Finds the folder of the checkout, which is usually called like the project's own package. Returns null if
 * the log does not show it.
 */
export function findProjectName(path: string): string | null {
  return (
    /\/(?:home|Users)\/runner\/work\/([\w.-]{1,80})\/\1\//.exec(path)?.[1] ??
    /^rootdir: \S{0,200}\/([\w.-]{1,80})/m.exec(path)?.[1] ??
    null
  );
}
