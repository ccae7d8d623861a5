import { search } from '../addresses.ts';
import { type Html, html } from '../html.ts';
import type { PageScope } from '../scope.ts';
import { icon } from './icons.ts';

/** A repository that the scope can be narrowed to, and what is said of it. */
export interface ScopeChoice {
  readonly repository: string;
  readonly words: string;
}

/** The repositories that are listed; all others are found by the search of the frame. */
const LISTED = 20;

/** Renders the choice of the repository that a page shows, which other pages keep. */
export function scopeMenu(path: string, scope: PageScope, choices: readonly ScopeChoice[]): Html {
  const { repo = '', branch, days } = scope;
  const link = (repository: string, name: string, words: string) =>
    html`<li><a href="${path}${search({ repo: repository, branch, days })}"${
      repository === repo && html` aria-current="true"`
    }>${name}<span class="meta">${words}</span></a></li>`;
  return html`<details class="menu"><summary class="btn bare"><span class="seen-not">Scope:
    </span>${repo === '' ? 'All repositories' : repo} ${icon('down')}</summary><ul>${link(
      '',
      'All repositories',
      '',
    )}${choices
      .slice(0, LISTED)
      .map(({ repository, words }) => link(repository, repository, words))}</ul></details>`;
}
