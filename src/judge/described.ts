import { getProjectPath } from '../log/paths.ts';

/** The cause in words: a title a person would say, and up to three sentences that say more. */
export interface Described {
  readonly title: string;
  readonly cause: string;
  /** The log does not say how the only failing test failed. */
  readonly isSilent?: boolean;
}

/** The longest title. */
export const MAX_TITLE = 80;

/** Formats a place as "src/cart.ts:12", as far as it is known. */
export function formatPlace(file: string | null, line: number | null): string | null {
  if (file === null) return null;
  const path = getProjectPath(file);
  return line === null ? path : `${path}:${line}`;
}

/**
 * Joins a place and what is wrong there into a title: with the whole place if there is room, otherwise with
 * the name of the file, otherwise with what is said `before` it, otherwise alone.
 */
export function joinTitle(place: string | null, message: string, separator = ': ', before = ''): string {
  if (place === null) return `${before === '' ? '' : `${before}: `}${message}`;
  const titles = [place, place.split('/').at(-1) ?? place].map(
    (ending) => `${before === '' ? '' : `${before} at `}${ending}${separator}${message}`,
  );
  const bare = before === '' ? message : `${before}: ${message}`;
  return titles.concat(bare).find(({ length }) => length <= MAX_TITLE) ?? message;
}
