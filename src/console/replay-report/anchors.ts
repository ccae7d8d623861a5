import { type Html, html } from '../html.ts';
import type { ReportCase, ReportSet } from './report.ts';

/** Where the cases of a set are on the page. Ids are anybody's words, so the anchors are numbers. */
export interface Anchors {
  /** The set's own. */
  readonly top: string;
  /** Told behind what several sets have alike, so that names are told apart: ", clean.jsonl"; empty where there is one set. */
  readonly suffix: string;
  /** Null for an id that no shown case has. Of several with one id, the one that was answered is meant. */
  of(id: string): string | null;
  /** A case's own: a row that repeats an id is a case that failed. */
  at(one: ReportCase): string | null;
}

/** A list is no longer; the rest is counted. */
const MOST_LINKS = 60;

/** `at` is the number of the set on the page, `shown` how many of its cases are on it. */
export function anchorsOf(set: ReportSet, at: number, shown: number, isOnly: boolean): Anchors {
  const cases = set.cases.slice(0, shown);
  const own = new Map(cases.map((one, index) => [one, `s${at}-c${index + 1}`]));
  const places = new Map<string, ReportCase>();
  for (const one of cases) {
    const known = places.get(one.id);
    if (known === undefined || (known.error !== null && one.error === null)) places.set(one.id, one);
  }
  const atCase = (one: ReportCase | undefined) => (one === undefined ? null : (own.get(one) ?? null));
  return { top: `s${at}`, suffix: isOnly ? '' : `, ${set.name}`, of: (id) => atCase(places.get(id)), at: atCase };
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
