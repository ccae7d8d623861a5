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

/** Renders the menu of repositories for the scope, which other pages keep. */
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
