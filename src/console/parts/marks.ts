import { Category } from '../../domain/category.ts';
import { CATEGORY_WORDS } from '../../domain/category-words.ts';
import { type Html, html, type Shown } from '../html.ts';
import { type Icon, icon } from './icons.ts';

/** The icon of each category, which is also the name of its color. */
const HUES = {
  CODE_ERROR: 'code',
  TEST_FAILURE: 'test',
  INFRA_ERROR: 'infra',
  CONFIG_ERROR: 'config',
  DEPENDENCY_ERROR: 'dependency',
} as const satisfies Record<Category, Icon>;

/** Returns the name of a category's color, for `data-c`. */
export function getHue(category: Category): string {
  return HUES[category];
}

/** Renders a category by icon and word, in its color. The category is null if there is no judgment. */
export function renderCategory(category: string | null): Html {
  const { hue, words } = markCategory(category);
  return html`<span class="cat"${hue !== null && html` data-c="${hue}"`}>${icon(hue ?? 'unsure')}${words}</span>`;
}

/** Renders a category in a list by its icon. Screen readers get the word. */
export function categoryTile(category: string | null): Html {
  const { hue, words } = markCategory(category);
  return iconTile(hue ?? 'unsure', words, hue !== null && html` data-c="${hue}"`);
}

function markCategory(category: string | null) {
  const known = Category.safeParse(category).data;
  return known === undefined
    ? { hue: null, words: 'Not analyzed' }
    : { hue: HUES[known], words: CATEGORY_WORDS[known] };
}

/** Renders an icon in a tile. `words` is its meaning. */
export function iconTile(name: Icon, words: string, hue: Shown = null): Html {
  return html`<span class="tile"${hue} title="${words}">${icon(name)}<span
    class="seen-not">${words}</span></span>`;
}

export type Tone = 'red' | 'green' | 'amber';

/** Renders a state as a label: color, word and, if useful, an icon. */
export function stateMark(words: Shown, tone: Tone | null = null, sign: Icon | null = null): Html {
  return html`<span class="state${tone !== null && ` ${tone}`}">${
    sign !== null && icon(sign)
  }${words}</span>`;
}

/**
 * Renders the owner: a person by the first letter, or a team, whose name begins with @ or contains a slash.
 */
export function renderOwner(name: string): Html {
  const isTeam = name.includes('/') || name.startsWith('@');
  const letter = /[\p{L}\p{N}]/u.exec(name.split('/').at(-1) ?? '')?.[0]?.toUpperCase();
  return html`<span class="owner"><span class="face${isTeam && ' team'}"
    aria-hidden="true">${letter}</span><span>${name}</span></span>`;
}

/** Renders the absence of an owner or assignee. */
export function renderNoOwner(words = 'Unassigned'): Html {
  return html`<span class="owner"><span class="face none" aria-hidden="true"></span><span
    class="quiet">${words}</span></span>`;
}

/** Renders a notice in the color of its state. */
export function banner(
  content: Shown,
  {
    tone,
    sign = tone === 'green' ? 'check' : 'warn',
    id,
  }: { readonly tone?: Tone; readonly sign?: Icon; readonly id?: string } = {},
): Html {
  return html`<div class="banner${tone !== undefined && ` ${tone}`}"${
    id !== undefined && html` id="${id}"`
  }>${icon(sign)}<div class="grow">${content}</div></div>`;
}
