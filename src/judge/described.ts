import { getProjectPath } from '../log/paths.ts';
import { MAX_TITLE } from '../log/title.ts';

/** The cause in words: a short title, and up to three sentences. */
export interface Described {
  readonly title: string;
  readonly cause: string;
  /** True if the log does not say how the only failing test failed. */
  readonly isSilent?: boolean;
}

/** Formats a place as "src/cart.ts:12". Unknown parts are left out. */
export function formatPlace(file: string | null, line: number | null): string | null {
  if (file === null) return null;
  const path = getProjectPath(file);
  return line === null ? path : `${path}:${line}`;
}

/**
 * Joins a place and a message into a title: with the whole place if it fits, or else with the file's name, or
 * else with the text `before`, or else the message alone.
 */
export function joinTitle(place: string | null, message: string, separator = ': ', before = ''): string {
  if (place === null) return `${before === '' ? '' : `${before}: `}${message}`;
  const titles = [place, place.split('/').at(-1) ?? place].map(
    (ending) => `${before === '' ? '' : `${before} at `}${ending}${separator}${message}`,
  );
  const bare = before === '' ? message : `${before}: ${message}`;
  return titles.concat(bare).find(({ length }) => length <= MAX_TITLE) ?? message;
}
