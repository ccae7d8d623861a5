/** What a server said when it refused. */
export interface Refusal {
  readonly status: number;
  /** The server's `error.code` or `error.type`, where it gave one. */
  readonly code: string | null;
  /** Its `error.type`. */
  readonly kind: string | null;
  /** The server's own words, bounded; may not be shown where it could name a key. */
  readonly message: string;
  readonly retryAfterMs: number | null;
}
