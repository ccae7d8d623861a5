import { z } from 'zod';
import { search } from './addresses.ts';
import { tabs } from './controls.ts';
import { type Html, html } from './html.ts';
import { Offset, WordsOrNone } from './http.ts';

/** The part of the library that is listed. */
export const LibraryQuery = z.object({
  repo: WordsOrNone,
  show: z.enum(['all', 'flagged', 'withdrawn']).catch('all').default('all'),
  offset: Offset,
});
export type LibraryQuery = z.infer<typeof LibraryQuery>;

const SHOWS = {
  all: 'All',
  flagged: 'Contradicted by green builds',
  withdrawn: 'Include withdrawn',
} as const;

/** Renders the name of the library with links to its lists; absent: none of them is shown. */
export function libraryTop(query: LibraryQuery | null): Html {
  const lists = (['all', 'flagged', 'withdrawn'] as const).map((show) => ({
    address: getListAddress({ repo: query?.repo, show, offset: 0 }),
    words: SHOWS[show],
    isHere: query?.show === show,
  }));
  const rules = { address: '/library/rules', words: 'Rules', isHere: query === null };
  return html`<h1 tabindex="-1">Library</h1>${tabs('Library', [...lists, rules])}`;
}

/** Returns the address of a list of the library. */
export function getListAddress({ repo, show, offset }: LibraryQuery): string {
  return `/library${search({ repo, show: show === 'all' ? undefined : show, offset: offset || undefined })}`;
}
