/** Which part of a list. */
export interface Page {
  /** 1..200 */
  readonly limit: number;
  readonly offset: number;
}
