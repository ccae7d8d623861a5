import { type Form, formsOf, MIN_FORM } from './forms.ts';
import { createFinder } from './literals.ts';
import type { Span } from './span.ts';

/** Finds known secrets in a text, in every spelling, whole, cut short, or broken over lines. */
export type FindKnown = (text: string) => Span[];

/** Most secrets of one run that are looked for everywhere; a hostile log could "show" any number. */
const MAX_SECRETS = 1_000;
/** Longest stretch of a secret that is searched; the rest of a longer one is found beside it. */
const MAX_LITERAL = 64;
/** From this length on, a secret that lost up to two characters at an end is found too. */
const TRIMMED_FROM = 14;
const TRIM = 2;
/** Characters at a line's end by which a broken secret is recognised. */
const GRAM = 3;
/** Most lines that one secret may be broken over. */
const MAX_BREAKS = 60;
/** Longest part of a secret on the line where it begins, and most places remembered, altogether and for one gram. */
const MAX_FIRST_PART = 400;
const MAX_PLACES = 300_000;
const MAX_ALIKE = 8;
/** What may stand at the start of a continued line: white space, a time, a runner's name. */
const PREFIX = /^(?:\[[^\]]{0,60}\]\s?|\d{4}-\d\d-\d\d[T ][\d:.,]{5,20}Z?\s?|\d\d:\d\d:\d\d[.,\d]{0,7}\s?|[>|]\s?|\s){0,12}/;

/** Null where there is nothing to look for. */
export function createKnownFinder(secrets: Iterable<string>): FindKnown | null {
  const forms = [...new Set(secrets)].slice(0, MAX_SECRETS).flatMap(formsOf);
  if (forms.length === 0) return null;
  const cores = forms.map(({ text }) => {
    const trim = text.length >= TRIMMED_FROM ? TRIM : 0;
    return { trim, literal: text.slice(trim, Math.min(text.length - trim, trim + MAX_LITERAL)) };
  });
  const find = createFinder(cores.map(({ literal }) => literal));
  const grams = gramsOf(forms);
  return (text) => {
    const spans: Span[] = [];
    const hiddenTo = new Map<number, number>();
    find(text, (id, from) => {
      const [form, core] = [forms[id], cores[id]];
      // A secret that repeats itself is found at each place in what is hidden already.
      if (form === undefined || core === undefined || from + core.literal.length <= (hiddenTo.get(id) ?? 0)) return;
      const span = grown(text, from, core.trim, form);
      hiddenTo.set(id, span.to);
      spans.push(span);
    });
    findBroken(text, forms, grams, spans);
    return spans;
  };
}

/** As far to both sides as the text agrees with the form. */
function grown(text: string, at: number, trim: number, form: Form): Span {
  let from = at;
  let start = trim;
  while (start > 0 && text[from - 1] === form.text[start - 1]) {
    from--;
    start--;
  }
  let to = at;
  let index = trim;
  while (index < form.text.length && text[to] === form.text[index]) {
    to++;
    index++;
  }
  if (start === 0) for (let n = 0; n < form.before && isBase64(text, from - 1); n++) from--;
  if (index === form.text.length) for (let n = 0; n < form.after && isBase64(text, to); n++) to++;
  return { from, to };
}

function isBase64(text: string, at: number): boolean {
  return /[A-Za-z0-9+/_-]/.test(text[at] ?? '');
}

type Grams = ReadonlyMap<string, readonly (readonly [form: number, end: number])[]>;

/** Where a form may be broken: each three characters in it, with the place after them. */
function gramsOf(forms: readonly Form[]): Grams {
  const grams = new Map<string, [number, number][]>();
  let count = 0;
  for (const [id, { text }] of forms.entries()) {
    const last = Math.min(text.length - GRAM, MAX_FIRST_PART);
    for (let end = GRAM; end <= last && count < MAX_PLACES; end++) {
      const gram = text.slice(end - GRAM, end);
      const places = grams.get(gram);
      if (places === undefined) grams.set(gram, [[id, end]]);
      else if (places.length < MAX_ALIKE) places.push([id, end]);
      else continue;
      count++;
    }
  }
  return grams;
}

/** Forms that begin at the end of one line and go on at the start of the next. */
function findBroken(text: string, forms: readonly Form[], grams: Grams, spans: Span[]): void {
  for (let lineEnd = text.indexOf('\n'); lineEnd !== -1; lineEnd = text.indexOf('\n', lineEnd + 1)) {
    const end = text.charCodeAt(lineEnd - 1) === 13 ? lineEnd - 1 : lineEnd;
    for (const [id, at] of grams.get(text.slice(Math.max(0, end - GRAM), end)) ?? []) {
      const form = forms[id]?.text ?? '';
      if (end >= at && text.startsWith(form.slice(0, at), end - at)) spans.push(...followBreak(text, form, at, end, lineEnd));
    }
  }
}

function followBreak(text: string, form: string, at: number, end: number, lineEnd: number): Span[] {
  const spans: Span[] = [{ from: end - at, to: end }];
  let known = at;
  let next = lineEnd + 1;
  for (let line = 0; line < MAX_BREAKS && known < form.length; line++) {
    const from = next + (PREFIX.exec(text.slice(next, next + 200))?.[0].length ?? 0);
    let to = from;
    while (known < form.length && to < text.length && text[to] === form[known]) {
      to++;
      known++;
    }
    if (to === from) return [];
    spans.push({ from, to });
    if (known < form.length && text[to] !== '\n' && text[to] !== '\r') return [];
    next = to + (text[to] === '\r' ? 2 : 1);
  }
  return known === form.length && form.length >= MIN_FORM ? spans : [];
}
