import { z } from 'zod';
import { Category } from '../domain/category.ts';
import { search } from './addresses.ts';
import { tabs } from './controls.ts';
import { type Html, html } from './html.ts';
import { Offset, Words } from './http.ts';
import { ScopeFields } from './scope.ts';

/** The query fields of the lists of the library. */
export const LibraryQuery = z.object({
  ...ScopeFields,
  category: Category.optional().catch(undefined),
  filter: Words,
  csv: z.literal('1').optional().catch(undefined),
  show: z.enum(['all', 'flagged', 'withdrawn']).catch('all').default('all'),
  offset: Offset,
});
export type LibraryQuery = z.infer<typeof LibraryQuery>;

const SHOWS = {
  all: 'All',
  flagged: 'Found in green builds',
  withdrawn: 'With withdrawn ones',
} as const;

/**
 * Renders the title of the library with links to its lists. Without a query, none of the links is marked as
 * current.
 */
export function libraryTop(query: LibraryQuery | null): Html {
  const lists = (['all', 'flagged', 'withdrawn'] as const).map((show) => ({
    address: getListAddress({ ...query, show, offset: 0 }),
    words: SHOWS[show],
    isHere: query?.show === show,
  }));
  const rules = { address: '/library/rules', words: 'Rules', isHere: query === null };
  return html`<h1 tabindex="-1">Library</h1>${tabs('Library', [...lists, rules])}`;
}

type Listed = Partial<LibraryQuery> & Pick<LibraryQuery, 'show' | 'offset'>;

/** Returns the fields in the address of a list of the library, except the offset. */
export function toListFields({ repo, branch, days, category, show }: Listed) {
  return { repo, branch, days, category, show: show === 'all' ? undefined : show };
}

/** Returns the address of a list of the library. */
export function getListAddress(query: Listed, more: Readonly<Record<string, string>> = {}): string {
  return `/library${search({ ...toListFields(query), offset: query.offset || undefined, ...more })}`;
}
