import { spellCharacter } from '../lib/text.ts';

/**
 * A piece of HTML. Only the functions of this file create it, so text that looks like markup never becomes
 * markup.
 */
class SafeHtml {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Html = SafeHtml;

/**
 * The values allowed in a placeholder. Strings and numbers are escaped; null, undefined and false render
 * nothing.
 */
export type Shown = string | number | Html | null | undefined | false | readonly Shown[];

/**
 * Builds markup from a template. Every placeholder is escaped for text and for quoted attributes and must not
 * stand anywhere else: not in the name of a tag or an attribute, not in an unquoted value, not in a script or
 * style. For addresses see `linkTarget`. A line break of the template, with the indentation after it, becomes
 * one space, or nothing between a tag and that of a block: none may stand in an element that shows white space.
 */
export function html(template: TemplateStringsArray, ...values: readonly Shown[]): Html {
  const parts = joinLines(template);
  let text = parts[0] ?? '';
  for (const [at, value] of values.entries()) text += toMarkup(value) + (parts[at + 1] ?? '');
  return new SafeHtml(text);
}

/**
 * The joined parts of each template. They are cached because a page with many rows renders the same template
 * many times.
 */
const JOINED = new WeakMap<TemplateStringsArray, readonly string[]>();
const BLOCK =
  'article|aside|body|caption|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|' +
  'html|li|link|main|meta|nav|ol|p|pre|script|section|style|summary|table|tbody|td|th|thead|title|tr|ul';
const BEFORE_BLOCK = new RegExp(`>\\n *(?=</?(?:${BLOCK})\\b)`, 'g');

function joinLines(template: TemplateStringsArray): readonly string[] {
  const known = JOINED.get(template);
  if (known !== undefined) return known;
  const joined = template.map((part) => part.replace(BEFORE_BLOCK, '>').replace(/\n */g, ' '));
  JOINED.set(template, joined);
  return joined;
}

export const NOTHING: Html = new SafeHtml('');

/** Joins items, with a separator between them. */
export function joinHtml(items: readonly Shown[], between: Shown = ''): Html {
  return new SafeHtml(items.map(toMarkup).join(toMarkup(between)));
}

type Column = Shown | { readonly number: Shown };

/** Creates columns of numbers for a table. */
export function createNumberColumns(...names: readonly Shown[]): Column[] {
  return names.map((number) => ({ number }));
}

/**
 * Renders a table that scrolls if it is wider than the page. On a phone it becomes a list of cards whose
 * cells show the names of their columns, unless `listed` is set. `label` is the accessible name. Columns of
 * numbers are right-aligned.
 */
export function dataTable(
  label: string,
  head: readonly Column[],
  rows: Shown,
  { className, caption }: { readonly className?: string; readonly caption?: string } = {},
): Html {
  const names = head.map((column) => (isNumber(column) ? column.number : column));
  const columns = head.map(
    (column, at) => html`<th scope="col"${isNumber(column) && html` class="number"`}>${names[at]}</th>`,
  );
  return html`<div class="panel scroll" tabindex="0" role="region" aria-label="${label}">
    <table class="table${className !== undefined && [' ', className]}">${
      caption !== undefined && html`<caption>${caption}</caption>`
    }<thead><tr>${columns}</tr></thead>
    <tbody>${className === 'fold' ? rows : labelCells(rows, names)}</tbody></table></div>`;
}

function isNumber(column: Column): column is { readonly number: Shown } {
  return typeof column === 'object' && column !== null && 'number' in column;
}

/** Adds the name of its column to each cell of the rows. */
function labelCells(rows: Shown, names: readonly Shown[]): Html {
  const labels = names.map((name) => toMarkup(name).replace(/<[^<>]*>/g, ''));
  let column = 0;
  const text = toMarkup(rows).replace(/<(tr|td|th)\b/g, (tag, name) => {
    const label = name === 'tr' ? '' : labels[column];
    column = name === 'tr' ? 0 : column + 1;
    return !label || name === 'th' ? tag : `${tag} data-label="${label}"`;
  });
  return new SafeHtml(text);
}

/**
 * Returns an external address for `href` if it is an HTTP address, and null otherwise. A link therefore never
 * runs a script.
 */
export function linkTarget(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) return null;
  return /^https?:$/.test(new URL(address).protocol) ? address : null;
}

function toMarkup(value: Shown): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof SafeHtml) return value.text;
  if (typeof value === 'object') return value.map(toMarkup).join('');
  if (typeof value === 'number') return String(value);
  return String(value).replace(SPECIAL, (character) => ENTITIES[character] ?? spellCharacter(character));
}

/**
 * Characters with a meaning in markup, control characters, and characters that change the direction of text.
 * Characters of the last two kinds are replaced by their code.
 */
const SPECIAL = /[&<>"'\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\0': '\ufffd',
};
