export interface WebResult {
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

/** Web search. `configured: false` is an honest outcome, not an error. */
export interface WebSearch {
  readonly driver: string;
  readonly configured: boolean;
  search(query: string, limit: number, signal: AbortSignal): Promise<WebResult[]>;
}
