/** The addresses of the pages, in one place: comments, Slack and the terminal lead to them too. All are paths; see `atPublicUrl`. */

export function reviewAddress(reviewId: string): string {
  return `/review/${encodeURIComponent(reviewId)}`;
}

export function buildAddress(buildId: string): string {
  return `/builds/${encodeURIComponent(buildId)}`;
}

export function analysisAddress(analysisId: string): string {
  return `/analyses/${encodeURIComponent(analysisId)}`;
}

export function runAddress(analysisId: string): string {
  return `/runs/${encodeURIComponent(analysisId)}`;
}

export function causeAddress(fingerprint: string): string {
  return `/failures/${encodeURIComponent(fingerprint)}`;
}
