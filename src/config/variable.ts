/** One setting as the environment names it. The same table reads the environment and prints the documentation. */
export interface Variable {
  readonly name: string;
  /** Path in `Config`, e.g. `http.port`. */
  readonly path: string;
  readonly type: 'text' | 'number' | 'flag' | 'list' | 'pairs' | 'tokens' | 'proxies' | 'json';
  /** May also be given as NAME_FILE, the path of a file that holds the value. */
  readonly secret?: true;
  readonly meaning: string;
}
