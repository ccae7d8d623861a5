/** Remembers what was pressed in Slack for longer than its signature holds. */
export interface SlackPresses {
  /** `true` the first time this id is brought; of several at once, for one of them. */
  isNew(id: string): Promise<boolean>;
}
