import { type Standing, standingText } from '../../replay/run/progress.ts';
import type { ProgressStream } from '../progress.ts';

/** How a long replay is told to whoever waits: one line that rewrites itself on a terminal, a line now and then elsewhere. */
export interface ReplayProgress {
  show(standing: Standing): void;
  /** A line that stays, such as a case that failed. */
  say(line: string): void;
  /** Ends it, and leaves nothing of the rewritten line. */
  stop(): void;
}

/** A terminal need not be drawn more often. */
const FRAME_MS = 100;
/** Elsewhere: a line at least every so often, since CI systems end jobs that are silent for long. */
const LINE_MS = 20_000;
/** By cases: so many, and of many a twentieth. */
const EVERY_CASES = 50;
const LINES = 20;
const CLEAR = '\r\x1b[2K';

/** `now` tells milliseconds, from any start. */
export function startReplayProgress(
  { plain }: { readonly plain: boolean },
  stream: ProgressStream = process.stderr,
  now: () => number = () => performance.now(),
): ReplayProgress {
  return stream.isTTY === true && !plain ? rewritten(stream, now) : lineByLine(stream, now);
}

function rewritten(stream: ProgressStream, now: () => number): ReplayProgress {
  let shown = '';
  let drawnAt = Number.NEGATIVE_INFINITY;
  const clear = () => {
    if (shown !== '') stream.write(CLEAR);
    shown = '';
  };
  return {
    show(standing) {
      if (now() - drawnAt < FRAME_MS && standing.done !== standing.total) return;
      drawnAt = now();
      shown = standingText(standing).slice(0, (stream.columns || 80) - 1);
      stream.write(`${CLEAR}${shown}`);
    },
    say(line) {
      const below = shown;
      clear();
      stream.write(`${line}\n${below}`);
      shown = below;
    },
    stop: clear,
  };
}

function lineByLine(stream: ProgressStream, now: () => number): ReplayProgress {
  let saidAt = now();
  let saidDone = 0;
  return {
    show(standing) {
      if (standing.done === standing.total) return;
      if (now() - saidAt < LINE_MS && standing.done - saidDone < Math.max(EVERY_CASES, (standing.total ?? 0) / LINES)) return;
      saidAt = now();
      saidDone = standing.done;
      stream.write(`${standingText(standing)}\n`);
    },
    say: (line) => void stream.write(`${line}\n`),
    stop: () => undefined,
  };
}
