/** How far a replay is. */
export interface Standing {
  /** Finished cases, those of an earlier run among them. */
  readonly done: number;
  readonly resumed: number;
  /** Null where nobody has counted. */
  readonly total: number | null;
  readonly errors: number;
  /** Spent by this run. */
  readonly usd: number;
  readonly elapsedMs: number;
}

/** What is left, if it goes on as it went; null where that cannot be said. */
interface Left {
  readonly milliseconds: number;
  readonly usd: number;
}

/** Fewer cases say too little about the rest. */
const KNOWN_FROM = 5;

/** What the rest takes and costs, by the mean of what this run has done. */
export function leftOf({ done, resumed, total, usd, elapsedMs }: Standing): Left | null {
  const own = done - resumed;
  if (total === null || own < KNOWN_FROM) return null;
  const share = Math.max(0, total - done) / own;
  return { milliseconds: elapsedMs * share, usd: usd * share };
}

/** "120 of 214 cases, 2 failed, $0.41 so far; about 3 min and $0.32 left". */
export function standingText(standing: Standing): string {
  const { done, total, errors, usd } = standing;
  const left = leftOf(standing);
  const so = [
    total === null ? `${done} cases` : `${done} of ${total} cases`,
    ...(errors === 0 ? [] : [`${errors} failed`]),
    ...(usd === 0 ? [] : [`${dollars(usd)} so far`]),
  ].join(', ');
  if (left === null || done === total) return so;
  return `${so}; about ${durationText(left.milliseconds)}${left.usd === 0 ? '' : ` and ${dollars(left.usd)}`} left`;
}

/** "8 s", "3 min", "2 h 10 min". */
export function durationText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 3 : 2)}`;
}

/** What a replay may use up; a limit that is left out is none. */
interface Limits {
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
