/** What a replay may use up; a limit that is left out is none. */
export interface Limits {
  /** US dollars that models cost, as the answers tell. */
  readonly usd?: number;
  readonly minutes?: number;
}

/** Counts what is used up. Cases that run when a limit is reached are finished, so it may be passed by what they cost. */
export interface Spending {
  add(usd: number): void;
  readonly usd: number;
  /** Which limit is reached, as a phrase; null while none is. */
  reached(): string | null;
}

/** `now` tells milliseconds, from any start. */
export function createSpending({ usd = Number.POSITIVE_INFINITY, minutes }: Limits, now: () => number = () => performance.now()): Spending {
  const startedAt = now();
  let spent = 0;
  return {
    add: (more) => {
      spent += more;
    },
    get usd() {
      return spent;
    },
    reached() {
      if (spent >= usd) return `$${usd} spent`;
      if (minutes !== undefined && now() - startedAt >= minutes * 60_000)
        return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} passed`;
      return null;
    },
  };
}
