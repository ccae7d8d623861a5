import { type Html, html } from '../html.ts';
import type { ReportSet } from './report.ts';

/** Where the cases of a set are on the page. Ids are anybody's words, so the anchors are numbers. */
export interface Anchors {
  /** The set's own. */
  readonly top: string;
  /** Told behind what several sets have alike, so that names are told apart: ", clean.jsonl"; empty where there is one set. */
  readonly suffix: string;
  /** Null for an id that no shown case has. */
  of(id: string): string | null;
}

/** A list is no longer; the rest is counted. */
const MOST_LINKS = 60;

/** `at` is the number of the set on the page, `shown` how many of its cases are on it. */
export function anchorsOf(set: ReportSet, at: number, shown: number, isOnly: boolean): Anchors {
  const places = new Map(set.cases.slice(0, shown).map(({ id }, index) => [id, `s${at}-c${index + 1}`]));
  return { top: `s${at}`, suffix: isOnly ? '' : `, ${set.name}`, of: (id) => places.get(id) ?? null };
}

/** Cases by their ids, each a link to where it is. */
export function caseLinks(ids: readonly string[], anchors: Anchors): Html {
  const links = ids.slice(0, MOST_LINKS).map((id) => {
    const anchor = anchors.of(id);
    return html`<li>${anchor === null ? id : html`<a href="#${anchor}">${id}</a>`}</li>`;
  });
  const rest = ids.length - links.length;
  return html`<ul class="ids">${links}${rest > 0 && html`<li class="quiet">and ${rest} more</li>`}</ul>`;
}
