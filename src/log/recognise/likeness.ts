import type { Failure } from '../../domain/failure.ts';
import { stripEscapes } from '../lines/clean.ts';
import { normaliseIdentity } from './normalise.ts';

/** What two failures are compared by. Anything unknown is null or empty. */
export interface LikenessParts {
  /** The failing test's full name. */
  readonly test: string | null;
  readonly message: string | null;
  /** Own frames as `file:function`, the deepest first. */
  readonly frames: readonly string[];
  /** Lines of the log around the failure. */
  readonly lines: readonly string[];
}

const MAX_FRAMES = 5;
const MAX_LINES = 60;
const MAX_LINE = 300;
const MAX_TEXT = 2_000;

/** The parts of a failure as it was read. */
export function likenessOf(failure: Pick<Failure, 'test' | 'message' | 'frames' | 'excerpt'>): LikenessParts {
  const { test, message, frames, excerpt } = failure;
  return {
    test: test === null ? null : [test.suite, test.name].filter(Boolean).join(' '),
    message: test === null ? message : (test.message ?? message),
    frames: frames
      .filter(({ own }) => own)
      .slice(0, MAX_FRAMES)
      .map(({ file, function: name }) => `${file.split(/[\\/]/).slice(-2).join('/')}:${name ?? ''}`),
    lines: excerpt?.text.split('\n') ?? [],
  };
}

/**
 * The one text that stands for a failure wherever texts are compared: its message, then what else its lines say, each once,
 * most telling first. The test's name is no part of it, so that two tests that die of one thing are alike. Masked as its
 * parts are; at most 2,000 characters.
 */
export function likenessText(parts: LikenessParts): string {
  const lines = [...(parts.message?.split('\n') ?? []), ...parts.lines].map((line) => stripEscapes(line).trim().slice(0, MAX_LINE));
  const seen = new Set<string>();
  const kept = lines.filter((line) => {
    const key = normaliseIdentity(line);
    return /\p{L}{3}/u.test(key) && !seen.has(key) && seen.add(key);
  });
  return kept.slice(0, MAX_LINES).join('\n').slice(0, MAX_TEXT);
}
