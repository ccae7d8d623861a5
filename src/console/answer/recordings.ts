/**
 * Lists the distinct videos and traces among files. A file inside the archive of a trace counts as that
 * trace.
 */
export function listRecordings(names: readonly string[]): string[] {
  return [...new Set(names.flatMap((name) => findRecording(name) ?? []))];
}

function findRecording(name: string): string | null {
  if (/\.(?:webm|mp4)$/i.test(name)) return name;
  const parts = name.split('/');
  const trace = parts.findIndex((part, index) => index > 0 && isTrace(part));
  return trace === -1 ? null : parts.slice(0, trace + 1).join('/');
}

/** Tells whether a file is the text in which Playwright saves the page on which a test failed. */
export function isErrorContext(name: string): boolean {
  return /(?:^|\/)error-context\.md$/i.test(name);
}

/** Tells whether a file is a trace by its name. */
export function isTrace(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return name.endsWith('.zip') && name.includes('trace');
}
