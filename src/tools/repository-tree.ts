const MAX_FOLDERS = 60;
const MAX_FILES = 25;

/** Folders down to the second level with how many files each holds, most first, then the files at the top. */
export function treeOf(paths: readonly string[], under: string): string {
  const folders = new Map<string, number>();
  const files: string[] = [];
  for (const path of paths) {
    const parts = (under === '' ? path : path.slice(under.length + 1)).split('/');
    if (parts.length === 1) files.push(path);
    const folder = parts.slice(0, Math.min(2, parts.length - 1)).join('/');
    if (folder !== '') folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  const sorted = [...folders].sort(([, left], [, right]) => right - left).slice(0, MAX_FOLDERS);
  const lines = sorted.sort(([left], [right]) => (left < right ? -1 : 1)).map(([folder, count]) => `${folder}/ (${count})`);
  const more = files.length > MAX_FILES ? [`… ${files.length - MAX_FILES} more files`] : [];
  return [...lines, ...files.slice(0, MAX_FILES), ...more].join('\n');
}
