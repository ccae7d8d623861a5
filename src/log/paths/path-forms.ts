const MAX_PATH = 1_024;

/**
 * What a tool wrapped around a path, taken away: file and bundler URLs with their query, Windows separators and prefixes, the drives of
 * MSYS, Cygwin and WSL, a position behind it (`tax.ts:41:9`, `Tax.cs(41,9)`, `#L41`), compiled and covered copies of a source.
 * Empty for text that is no path.
 */
export function plainPath(logged: string): string {
  const text = logged.trim();
  if (text.length === 0 || text.length > MAX_PATH || /[\u0000-\u001f]/.test(text)) return '';
  const path = withoutUrl(withoutQuotes(text)).replaceAll('\\', '/');
  return sourceOf(withoutPosition(withDrive(path)));
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
    .replace(/^(?:webpack-internal|webpack|rollup|ng|vite|rspack):\/{2,3}(?:[\w@.-]{1,80}\/(?=\.\/))?(?:\([\w-]{1,40}\)\/)?(?:\.\/)?/i, '')
    .replace(/^turbopack:\/{2,3}(?:\[project\]\/)?/i, '')
    .replace(/^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?\//i, '')
    .replace(/^\/?@fs(?=\/)/, '');
  return decoded(bare.replace(/\?[^?]{0,500}$/, ''));
}

function decoded(text: string): string {
  try {
    return /%[0-9A-Fa-f]{2}/.test(text) ? decodeURIComponent(text) : text;
  } catch {
    return text;
  }
}

/** `\\?\C:\x`, `/C:/x`, `/c/x` of MSYS, `/cygdrive/c/x`, `/mnt/c/x` all name drive C. */
function withDrive(path: string): string {
  return path
    .replace(/^\/\/[?.]\/(?=[A-Za-z]:\/)/, '')
    .replace(/^\/(?=[A-Za-z]:\/)/, '')
    .replace(/^\/(?:cygdrive\/|mnt\/)([A-Za-z])\//, '$1:/')
    .replace(/^\/([c-z])\/(?=(?:a|Users|projects|agent|actions-runner|Jenkins|jenkins|BuildAgent)\/)/, '$1:/');
}

function withoutPosition(path: string): string {
  return path
    .replace(/:\d{1,7}(?:[:-]\d{1,7})?:?$/, '')
    .replace(/\(\d{1,7}(?:[,:]\d{1,7}){0,3}\)$/, '')
    .replace(/#L\d{1,7}(?:-L\d{1,7})?$/, '');
}

/** The source that a class file, cached byte code or a page of a coverage report was made of. */
function sourceOf(path: string): string {
  return path
    .replace(/^(?:[^/]{1,120}\/){0,8}(?:target|build|out)\/(?:test-)?classes\/(?:(?:java|kotlin|groovy|scala)\/(?:main|test)\/)?/, '')
    .replace(/(?:\$[^/$]{1,120}){0,4}\.class$/, '.java')
    .replace(/__pycache__\/([^/]{1,120})\.(?:cpython|pypy)-?\d{1,4}(?:-pytest-[\d.]{1,12})?\.pyc$/, '$1.py')
    .replace(/\.py[co]$/, '.py')
    .replace(/^(?:[^/]{0,120}\/){0,8}(?:lcov-report|htmlcov)\/(.{1,500}\.\w{1,5})\.html$/, '$1')
    .replace(/^(?:[^/]{0,120}\/){0,8}build\/lib(?:\.[\w.-]{1,60})?\/(?=.{1,500}\.py$)/, '');
}
