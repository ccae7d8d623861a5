import { projectPath as pathWithoutWorkspace } from '../log/paths/repository-path.ts';

/** Whether a path belongs to a package, a runtime or a tool rather than to the project. */
export function isForeignPath(path: string): boolean {
  if (
    /^(?:node:|<frozen|java\.base|\/usr\/(?:lib|local)\/|\/opt\/hostedtoolcache\/|(?:testing|asm_\w{1,10}|proc|panic)\.(?:go|s)$)/.test(
      path,
    )
  )
    return true;
  return /(?:^|[\\/])(?:node_modules|site-packages|dist-packages|\.?venv|\.tox|\.nox|\.next|\.nuxt|\.pub-cache|Pods|DerivedData|hostedtoolcache|\.cargo[\\/]registry|\.m2|\.gradle|go[\\/]pkg[\\/]mod|vendor|gems)[\\/]/.test(
    path,
  );
}

/** Whether a path is a test by the usual names. */
export function isTestPath(path: string): boolean {
  return /(?:^|[\\/])(?:tests?|__tests__|spec|specs|it)[\\/]|(?:Tests?|IT|Spec|TestCase)\.\w{1,6}$|[._-](?:test|spec)\.\w{1,5}$|(?:^|[\\/])test_[^\\/]{1,120}\.py$|_test\.(?:go|py|rb|exs?|cc|cpp)$/.test(
    path,
  );
}

/**
 * Where a test's production file most likely is: FooTest → Foo, test_foo.py → foo.py. Its folder is given only where tests lie
 * beside their code, or in Maven's mirror of it. Null where the name says nothing.
 */
export function twinOf(path: string): string | null {
  const name = path.split(/[\\/]/).pop() ?? '';
  const twin = name
    .replace(/^test_(.{1,120}\.py)$/, '$1')
    .replace(/^Test(?=[A-Z])/, '')
    .replace(/(?:Tests?|IT|ITCase|Spec|TestCase)(?=\.\w{1,6}$)/, '')
    .replace(/[._-](?:test|spec)(?=\.\w{1,6}$)/, '')
    .replace(/_test(?=\.\w{1,4}$)/, '');
  if (twin === name || twin.startsWith('.')) return null;
  const folder = path.slice(0, path.length - name.length).replace(/([\\/])test([\\/]java|[\\/]kotlin|[\\/]scala|[\\/]groovy)/, '$1main$2');
  const beside = folder.replace(/__tests__[\\/]$/, '');
  return /(?:^|[\\/])(?:tests?|spec|specs|__tests__)[\\/]/.test(beside) ? twin : beside + twin;
}

/** The path inside the repository: without the folder a CI system checks out into. */
export function projectPath(path: string): string {
  return pathWithoutWorkspace(path);
}
