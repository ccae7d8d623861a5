import { search } from '../addresses.ts';
import { type Html, html } from '../html.ts';
import type { PageScope } from '../scope.ts';
import { icon } from './icons.ts';

/** A repository for the scope, with a short description. */
export interface ScopeChoice {
  readonly repository: string;
  readonly words: string;
}

/** The maximum number of repositories that are listed. The search of the frame finds the others. */
const LISTED = 20;

/** Renders the choice of the repository that a page shows, which other pages keep. */
export function scopeMenu(
  path: string,
  scope: PageScope & { readonly mine?: string | undefined },
  choices: readonly ScopeChoice[],
): Html {
  const { repo = '', branch, days, mine } = scope;
  const all = mine === undefined ? 'All repositories' : 'Mine';
  const link = (repository: string, name: string, words: string) =>
    html`<li><a href="${path}${search({ repo: repository, branch, days })}"${
      repository === repo && mine === undefined && html` aria-current="true"`
    }>${name}<span class="meta">${words}</span></a></li>`;
  return html`<details class="menu"><summary class="btn bare"><span class="seen-not">Scope:
    </span>${repo === '' ? all : repo} ${icon('down')}</summary><ul>${link(
      '',
      'All repositories',
      '',
    )}<li><a href="${path}${search({ mine: '1' })}"${
      mine !== undefined && html` aria-current="true"`
    }>Mine<span class="meta">assigned or owned</span></a></li>${choices
      .slice(0, LISTED)
      .map(({ repository, words }) => link(repository, repository, words))}</ul></details>`;
}
