/**
 * Returns the path of a review item. All addresses of pages are created in this file, because comments, Slack
 * and the terminal link to them too.
 */

export function formatReviewAddress(reviewId: string): string {
  return `/review/${encodeURIComponent(reviewId)}`;
}

export function buildAddress(buildId: string): string {
  return `/builds/${encodeURIComponent(buildId)}`;
}

export function formatAnalysisAddress(analysisId: string): string {
  return `/analyses/${encodeURIComponent(analysisId)}`;
}

export function runAddress(analysisId: string): string {
  return `/runs/${encodeURIComponent(analysisId)}`;
}

export function formatCauseAddress(fingerprint: string): string {
  return `/failures/${encodeURIComponent(fingerprint)}`;
}

/**
 * Returns the path of a build's log, by the name of the log. With `lines` (1-based, inclusive), it opens the
 * window around them and marks them.
 */
export function formatLogAddress(
  buildId: string,
  name: string,
  lines?: { readonly lineStart: number; readonly lineEnd: number },
): string {
  const range = lines === undefined ? '' : `&L=${lines.lineStart}-${lines.lineEnd}#L${lines.lineStart}`;
  return `/logs/${encodeURIComponent(buildId)}?file=${encodeURIComponent(name)}${range}`;
}

/** Returns the address of the follow-up questions about an analysis. */
export function askAddress(analysisId: string): string {
  return `/analyses/${encodeURIComponent(analysisId)}/ask`;
}

export function formatThreadAddress(analysisId: string, threadId: string): string {
  return `${askAddress(analysisId)}/${encodeURIComponent(threadId)}`;
}

/** Returns the address of questions about repositories, with one of them chosen. */
export function formatRepositoryAskAddress(repository?: string): string {
  return `/ask${search({ repo: repository })}`;
}

/** Returns the address of a thread about a repository. */
export function formatRepositoryThreadAddress(threadId: string): string {
  return `/ask/${encodeURIComponent(threadId)}`;
}

/** Returns the address of a library entry. */
export function formatLibraryAddress(entryId: string): string {
  return `/library/${encodeURIComponent(entryId)}`;
}

/** Returns the given fields as a query string such as `?a=1&b=2`, or an empty string if there are none. */
export function search(fields: Readonly<Record<string, string | number | undefined>>): string {
  let text = '';
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === '') continue;
    // Pages have hundreds of addresses, so values that need no encoding skip it.
    const encoded = /^[\w.-]*$/.test(`${value}`)
      ? value
      : new URLSearchParams({ v: `${value}` }).toString().slice(2);
    text += `${text === '' ? '?' : '&'}${name}=${encoded}`;
  }
  return text;
}
