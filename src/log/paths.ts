/**
 * Folders in which images mount a checkout. They may also be the first folder of the repository. `a/` and
 * `b/` are the two sides of a diff.
 */
const MOUNT =
  /^(?:\/(?:workspaces?|app|srv|src|code|project|repo|build|source|work|workdir|opt\/app|data)\/|[abiw]\/)/;

/** Code of third parties. Its paths are not in the repository, although a suffix of one might be. */
const FOREIGN: readonly RegExp[] = [
  new RegExp(
    String.raw`(?:^|/)(?:node_modules|site-packages|dist-packages|\.m2|\.gradle|\.cargo/registry|` +
      String.raw`\.cargo/git|go/pkg/mod|pkg/mod|rustc|vendor/bundle|gems|hostedtoolcache|` +
      String.raw`\.nuget|\.pub-cache|\.pnpm|\.yarn|\.ivy2|\.konan)/`,
  ),
  /^\/usr\/(?:lib|local\/(?:lib|go|Cellar)|include|share)\/|^\/Library\/|^\/opt\/(?:java|jdk|conda|homebrew)/,
  /^(?:node|java|jdk\.internal|deno|bun|internal):/,
  /^<[^>]{1,80}>|\.jar!|^[A-Za-z]:\/(?:Program Files|hostedtoolcache|Python\d)/,
  // External repositories of Bazel; Go modules with their version, as -trimpath prints them
  new RegExp(
    '(?:^|/)execroot/[^/]{1,120}/external/|^external/[^/]{1,120}/|' +
      String.raw`\.runfiles/(?!_main/|__main__/)[^/]{1,120}~`,
  ),
  /^[^@]{1,200}@v\d{1,4}\.\d{1,6}\.[^/]{1,80}\//,
];

/**
 * Lists the repository paths that a path from a log may mean, most likely first: without the workspace, then
 * shorter and shorter suffixes. If the path has several segments, at least two are kept, because a bare
 * `index.js` would match anything. A class or module in dotted notation yields its possible source files.
 * Returns an empty list for code of runtimes and libraries, and for text that is not a path.
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
 * Returns the path inside the repository, as far as it can be determined from the path alone: without URL,
 * position and workspace.
 */
export function getProjectPath(logged: string): string {
  const path = unwrapPath(logged);
  return path === '' ? logged : withoutWorkspace(path).replace(/^\.\//, '');
}

/**
 * Splits a path into segments, without the drive and without empty and `.` segments. `..` removes the segment
 * before it and never leads above the root.
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
/** File extensions. With one of them, `tax.test.ts` or `setup.cfg` is not a dotted name. */
const FILE_ENDING = new RegExp(
  String.raw`\.(?:[cm]?[jt]sx?|vue|svelte|py|pyi|rb|go|rs|php|java|kts?|scala|groovy|cs|fs|vb|c|cc|` +
    'cpp|cxx|h|hh|hpp|m|mm|swift|dart|exs?|erl|hs|ml|clj|pl|pm|lua|r|jl|sh|bash|sql|ya?ml|' +
    'json|toml|xml|html?|css|scss|md|txt|cfg|ini|lock|gradle|properties|tf|proto|bzl|mk)$',
  'i',
);

/**
 * Lists the possible source files of a class or module, most likely first: `com.shop.Cart$Line.total` →
 * `com/shop/Cart.java` and the same for other JVM languages, `shop.cart.Total` → `shop/cart.py`. Returns an
 * empty list for Go's `github.com/shop/api/cart.Total`, because a Go name does not identify a file in the
 * folder `cart`, and for text that is not a dotted name.
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

/** Lists the paths of a module, or of a function in a module. The file of a package is last. */
function listModulePaths(parts: readonly string[], whole = false): string[] {
  const module = parts.join('/');
  const outer = parts.length > 2 && !whole ? [`${parts.slice(0, -1).join('/')}.py`] : [];
  return [`${module}.py`, ...outer, `${module}/__init__.py`];
}

const MAX_PATH = 1_024;

/**
 * Removes everything that a tool adds to a path: URLs of files and bundlers with their query, Windows
 * separators and prefixes, the drives of MSYS, Cygwin and WSL, a position (`tax.ts:41:9`, `Tax.cs(41,9)`,
 * `#L41`), and the folders of compiled or covered copies. Returns an empty string for text that is not a
 * path.
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

/** Removes the URL of a bundler or development server from a path. */
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

/** Returns the source file of a class file, of cached byte code, or of a page of a coverage report. */
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
 * The folders in which CI systems, agents and build tools put a checkout, according to their documentation.
 * Each pattern removes the workspace, so that the rest is relative to the repository. More specific ones come
 * first.
 */
const WORKSPACES: readonly RegExp[] = [
  // Bazel: the sandbox, the execution root, and the runfiles of a test; generated files are in the same
  // packages
  /^(?:\/[^/]{1,120}){1,12}\/execroot\/[^/]{1,120}\/(?:bazel-out\/[^/]{1,120}\/(?:bin|genfiles|testlogs)\/)?/,
  /^\/?(?:[^/]{1,120}\/){0,14}[^/]{1,120}\.runfiles\/[^/]{1,120}\//,
  /^(?:bazel-out\/[^/]{1,120}\/(?:bin|genfiles|testlogs)|bazel-(?:bin|genfiles|testlogs))\//,
  // GitHub: hosted runners, job containers, Windows, actions in containers, and self-hosted runners
  /^\/(?:home|Users)\/runner\/work\/(?!\d{1,4}\/[sabd]\/)[^/]{1,120}\/[^/]{1,120}\//,
  /^\/__w\/(?!\d{1,4}\/[sabd]\/)[^/]{1,120}\/[^/]{1,120}\//,
  /^[A-Za-z]:\/a\/(?!_work\/|\d{1,4}\/[sabd]\/)[^/]{1,120}\/[^/]{1,120}\//,
  /^\/github\/workspace\//,
  new RegExp(
    '^(?:[A-Za-z]:)?/(?:[^/]{1,120}/){0,5}(?:actions-runner|runner|actions)' +
      String.raw`/_work/(?!\d{1,4}/[sabd]/)[^/]{1,120}/[^/]{1,120}/`,
  ),
  // Gitea's and Forgejo's runners without containers, and act: `~/.cache/act/<hash>/hostexecutor`
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,14}hostexecutor\//,
  // Azure: hosted agents on Linux, macOS and Windows, containers, and self-hosted agents
  /^\/(?:home\/vsts|Users\/runner|home\/runner)\/work\/\d{1,4}\/[sabd]\//,
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,5}(?:__w|_work|a)\/\d{1,4}\/[sabd]\//,
  // GitLab: the Docker executor, the shell executor with its token and slot, and Firefox's workers
  /^\/builds\/worker\/(?:checkouts|workspace)\/[^/]{1,120}\//,
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,4}builds\/[\w-]{6,20}\/\d{1,3}\/[^/]{1,120}\/[^/]{1,120}\//i,
  /^\/builds\/[^/]{1,120}\/[^/]{1,120}\//,
  // Jenkins, with the `@2` of a second executor and the `@script` of a pipeline. Its last row is below.
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,6}workspace\/[^/]{1,120}@(?:\d{1,4}|script|tmp)\//,
  new RegExp(
    String.raw`^(?:[A-Za-z]:)?/(?:[^/]{1,120}/){0,6}(?:jenkins|jenkins_home|\.jenkins|` +
      'agent|jenkins-agent|slave)/workspace/[^/]{1,120}/',
    'i',
  ),
  // CircleCI, Bitbucket, Travis, Buildkite, Drone, Woodpecker, Semaphore, Cirrus, AppVeyor, Bitrise
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
  // CodeBuild, TeamCity, Bamboo, GoCD, Concourse, Heroku
  new RegExp(
    String.raw`^/codebuild/output/[^/]{1,120}/src/(?:[\w.-]{1,80}\.(?:com|org|` +
      String.raw`net)/[^/]{1,120}/[^/]{1,120}/|s3/\d{1,3}/)?`,
  ),
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,4}build-?agent\/work\/[0-9a-f]{8,40}\//i,
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,5}xml-data\/build-dir\/[^/]{1,120}\//,
  /^\/(?:var\/lib\/go-agent|godata|go)\/pipelines\/[^/]{1,120}\//,
  /^\/tmp\/build\/[0-9a-f]{6,40}\/[^/]{1,120}\//,
  /^\/tmp\/build_[0-9a-f]{6,40}\//,
  // A GOPATH, a dev container, and folders in which images mount a checkout, if they cannot be names of
  // packages
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,4}go\/src\/[\w.-]{1,80}\.[a-z]{2,6}\/[^/]{1,120}\/[^/]{1,120}\//,
  /^\/workspaces\/[^/]{1,120}\//,
  /^\/usr\/src\/(?:app|project|code|build)\//,
  /^\/var\/www\/html\//,
  /^\/home\/node\/app\//,
  // Jenkins on an agent whose root folder has any name: `<root>/workspace/<job>/`. Other checkouts are in a
  // folder named `workspace` itself, so a usual folder of code below it is not a job.
  new RegExp(
    '^(?!/(?:app|srv|src|code|project|repo|build|source|work|workdir)/)(?:[A-Za-z]:)?/' +
      '(?:[^/]{1,120}/){1,6}workspace/' +
      '(?!(?:src|libs?|tests?|specs?|apps?|packages|cmd|pkg|internal|include)/)[^/]{1,120}/',
  ),
];

/**
 * Returns a path with `/` as separator, relative to the CI system's checkout. Returns the path unchanged if
 * its checkout folder is not known.
 */
function withoutWorkspace(path: string): string {
  for (const workspace of WORKSPACES) {
    const rest = path.replace(workspace, '');
    if (rest !== path && rest !== '') return rest;
  }
  return path;
}

/**
 * Finds the name of the checkout folder, which is usually the name of the project's main package. Returns
 * null if the path does not contain it.
 */
export function findProjectName(path: string): string | null {
  return (
    /\/(?:home|Users)\/runner\/work\/([\w.-]{1,80})\/\1\//.exec(path)?.[1] ??
    /^rootdir: \S{0,200}\/([\w.-]{1,80})/m.exec(path)?.[1] ??
    null
  );
}
