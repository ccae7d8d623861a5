import type { FastifyReply } from 'fastify';
import { CATEGORIES, Category } from '../domain/category.ts';
import { nameCategory } from '../domain/category-words.ts';
import type { Offer } from '../domain/offers.ts';
import { search } from './addresses.ts';
import { renderHiddenFields } from './controls.ts';
import { type Html, html, type Shown } from './html.ts';
import { icon } from './parts/icons.ts';

/** A field by which a list can be filtered. */
export interface FilterField {
  /** The name of the field in the address. */
  readonly name: string;
  readonly label: string;
  /** The field of the offers that contains the values. If absent, only `values` are offered. */
  readonly offered?: string;
  readonly values?: readonly string[];
  /** Formats a value for people. */
  readonly format?: (value: string) => string;
  /** The pattern of typed text that is accepted even if it is not offered. */
  readonly takes?: RegExp;
  /** True if this page does not use the field, but keeps it for the next page. */
  readonly isElsewhere?: true;
}

export const REPOSITORY_FIELD: FilterField = { name: 'repo', label: 'Repository', offered: 'repository' };
export const CATEGORY_FIELD: FilterField = {
  name: 'category',
  label: 'Category',
  offered: 'category',
  values: CATEGORIES,
  format: (value) => nameCategory(Category.safeParse(value).data),
};
export const DAYS_FIELD: FilterField = {
  name: 'days',
  label: 'Seen in',
  values: ['1', '7', '30', '90'],
  format: (value) => (value === '1' ? '1 day' : `${value} days`),
};
/** Pages whose rows belong to no single branch keep the branch for Builds. */
export const BRANCH_ELSEWHERE: FilterField = { name: 'branch', label: 'Branch', isElsewhere: true };

type Fields = Readonly<Record<string, string | number | undefined>>;

/** The filters of a list: those in use, and those that may be added. */
export interface Filtering {
  readonly path: string;
  /** All fields in the address of the list, except the offset. */
  readonly query: Fields;
  readonly fields: readonly FilterField[];
  readonly offers: readonly Offer[];
}

/**
 * Renders the filters of a list: for each one in use, a label that removes it, and a field that offers the
 * existing values with counts. `more` follows them. `list` is the id of a list of offers that the page
 * already contains.
 */
export function filterBar(
  label: string,
  filtering: Filtering,
  { more = null, list: known }: { readonly more?: Shown; readonly list?: string } = {},
): Html {
  const { path, query, fields } = filtering;
  const chips = fields.flatMap(({ name, label, format = String, isElsewhere }) => {
    const value = query[name];
    if (value === undefined || value === '') return [];
    const words = format(String(value));
    return [
      html`<a class="chip" href="${path}${search({ ...query, [name]: undefined })}"
        aria-label="Remove ${label}: ${words}">${label} <b>${words}</b>${
          isElsewhere && html`<span class="meta">in Builds only</span>`
        }${icon('cross')}</a>`,
    ];
  });
  const list = known ?? `offers-${path.replace(/\W/g, '')}`;
  const options = listOptions(filtering).map(
    ({ text, count }) => html`<option value="${text}"${count !== null && html` label="${count}"`}></option>`,
  );
  return html`<form class="filters" role="search" aria-label="${label}"
    action="${path}">${chips}${renderHiddenFields(
      withoutEmpty(query),
    )}<span class="combo"><input name="filter" list="${list}" aria-label="Filter" autocomplete="off"
    data-first placeholder="Filter by ${listNames(fields)}…" data-action="filter">${
      known === undefined && html`<datalist id="${list}">${options}</datalist>`
    }</span><button>Filter</button>${more}</form>`;
}

interface FilterOption {
  readonly field: FilterField;
  readonly value: string;
  /** The text as it is offered and typed: "Repository: acme/shop". */
  readonly text: string;
  readonly count: number | null;
}

function listOptions({ fields, offers, query }: Filtering): FilterOption[] {
  return fields.flatMap((field): FilterOption[] => {
    if (field.isElsewhere) return [];
    const { name, label, offered, values = [], format = String } = field;
    const known = offers.filter((offer) => offer.field === offered);
    const counts = new Map(known.map(({ value, count }) => [value, count]));
    return [...new Set([...counts.keys(), ...values])]
      .filter((value) => String(query[name] ?? '') !== value)
      .map((value) => ({
        field,
        value,
        text: `${label}: ${format(value)}`,
        count: counts.get(value) ?? null,
      }));
  });
}

/**
 * Applies the typed text: one of the offers, or a value for a field that accepts any. Returns the address of
 * the filtered list, or null if the text is neither.
 */
function findFiltered(typed: string, filtering: Filtering): string | null {
  const { path, query, fields } = filtering;
  const options = listOptions(filtering);
  const text = typed.trim();
  const wanted = text.toLowerCase();
  const found =
    options.find((option) => option.text.toLowerCase() === wanted) ??
    options.find(({ value }) => value.toLowerCase() === wanted) ??
    options.find((option) => option.text.toLowerCase().includes(wanted));
  const colon = text.indexOf(':');
  const named = fields.find(({ label }) => label.toLowerCase() === wanted.slice(0, Math.max(0, colon)));
  const free = fields.find(({ takes }) => takes?.test(text));
  const field = found?.field ?? named ?? free;
  if (field === undefined) return null;
  const value = found?.value ?? (named === undefined ? text : text.slice(colon + 1).trim());
  return `${path}${search({ ...query, [field.name]: value })}`;
}

/** Redirects to the list filtered by the typed text. Returns undefined if nothing fits. */
export function applyTypedFilter(
  reply: FastifyReply,
  typed: string,
  filtering: Filtering,
): FastifyReply | undefined {
  const address = typed === '' ? null : findFiltered(typed, filtering);
  return address === null ? undefined : reply.redirect(address, 303);
}

/** Renders the notice that the typed text fits no filter of the list. */
export function unknownFilter(typed: string): Shown {
  return (
    typed !== '' &&
    html`<p class="banner" role="note">Nothing here has “${typed}”, so the list is not filtered by it.</p>`
  );
}

function listNames(fields: readonly FilterField[]): string {
  const names = fields.filter(({ isElsewhere }) => !isElsewhere).map(({ label }) => label.toLowerCase());
  return names.slice(0, 4).join(', ');
}

function withoutEmpty(query: Fields): Fields {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== '' && value !== undefined));
}
