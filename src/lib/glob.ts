const SPECIAL = /[.+^$()|[\]\\]/;

/**
 * Converts a glob to a regular expression for whole paths, as its text: `*` and `?` stay within a folder,
 * `**` crosses folders, `{a,b}` is a choice. A glob without a slash matches file names in any folder. The
 * result is for an engine in linear time, because the globs are not ours.
 */
export function toGlobPattern(glob: string): string {
  const path = glob.includes('/') ? glob.replace(/^\//, '') : `**/${glob}`;
  let pattern = '';
  let open = 0;
  for (let at = 0; at < path.length; at += 1) {
    const letter = path[at] ?? '';
    if (path.startsWith('**/', at)) {
      pattern += '(?:[^/]+/)*';
      at += 2;
    } else if (path.startsWith('**', at)) {
      pattern += '.*';
      at += 1;
    } else if (letter === '*') pattern += '[^/]*';
    else if (letter === '?') pattern += '[^/]';
    else if (letter === '{' && path.includes('}', at)) {
      pattern += '(?:';
      open += 1;
    } else if (letter === '}' && open > 0) {
      pattern += ')';
      open -= 1;
    } else if (letter === ',' && open > 0) pattern += '|';
    else pattern += SPECIAL.test(letter) || letter === '{' || letter === '}' ? `\\${letter}` : letter;
  }
  return `^${pattern}${')'.repeat(open)}$`;
}
