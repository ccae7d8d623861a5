import type { Diagnostic } from '../domain/failure.ts';
import { MAX_DIAGNOSTICS } from '../domain/triage.ts';
import { firstOfEach } from '../lib/collections.ts';
import type { Described } from './causes.ts';
import type { Facts } from './facts.ts';
import { listErrors } from './leading-diagnostic.ts';
import { formatPlace, titleAt } from './place-words.ts';
import { cleanWords, quoteWords } from './values/clean.ts';
import { listed, toolName } from './wording.ts';

/** Rules or findings named in one sentence, and places of the same finding. */
const [MAX_NAMED, MAX_PLACES] = [2, 3];

/** Describes what a compiler or linter reports: the leading finding, and what the others are. */
export function describeFinding(entry: Diagnostic, facts: Facts): Described {
  const place = formatPlace(entry.file, entry.line);
  const message = cleanWords(entry.message, 240);
  const errors = listErrors(facts).filter(({ tool }) => tool === entry.tool);
  const tool = entry.tool === 'linter' ? 'The linter' : toolName(entry).replace(/^the /, 'The ');
  const code = entry.code === null || message.includes(entry.code) ? '' : ` (${entry.code})`;
  const where = place === null ? '' : ` at ${place}`;
  const isOnly = errors.length <= 1;
  const count = isOnly ? 'an error' : `${countErrors(errors)} errors`;
  const first = isOnly ? `${where}: ` : place === null ? '. The first is ' : `. The first is${where}: `;
  const others = errors.filter((other) => other !== entry);
  return {
    title: titleAt(place, message),
    cause: `${tool} reports ${count}${first}${quoteWords(message)}${code}.${nameOthers(entry, errors, others)}`,
  };
}

/** Counts errors; a subject holds the first of many. */
function countErrors({ length }: readonly Diagnostic[]): string {
  return length < MAX_DIAGNOSTICS ? String(length) : `at least ${length}`;
}

/** Says what the other findings are: the same elsewhere, of which rules, or the next different ones. */
function nameOthers(entry: Diagnostic, errors: readonly Diagnostic[], others: readonly Diagnostic[]): string {
  const tellPlace = ({ file, line }: Diagnostic) =>
    file === entry.file && line !== null ? `line ${line}` : (formatPlace(file, line) ?? '');
  const different = firstOfEach(others, ({ message }) => message).filter(
    ({ message }) => message !== entry.message,
  );
  if (different.length === 0 && others.length > 0) {
    const places = others.map(tellPlace).filter((place) => place !== '');
    return places.length === 0 ? '' : ` The same error is at ${listed(places, MAX_PLACES, 'other places')}.`;
  }
  const frequent = countRules(errors).filter(([, count]) => count > 1);
  if (frequent.length > 0 && errors.length > 3 && frequent[0]?.[1] !== errors.length) {
    const [[rule, count] = ['', 0], ...next] = frequent.slice(0, MAX_NAMED);
    const more = next.map(([other, times]) => ` and ${times} are ${other}`).join('');
    return ` Of these, ${count} are ${rule}${more}.`;
  }
  if (different.length === 0) return '';
  const next = different.slice(0, MAX_NAMED).map((other) => {
    const place = tellPlace(other);
    return `${quoteWords(cleanWords(other.message, 120))}${place === '' ? '' : ` (${place})`}`;
  });
  if (different.length > MAX_NAMED) return ` The others include ${listed(next)}.`;
  return ` The ${next.length === 1 ? 'other is' : 'others are'} ${listed(next)}.`;
}

/** Counts the findings of each rule of a linter or compiler, the most frequent first. */
function countRules(errors: readonly Diagnostic[]): [string, number][] {
  const byRule = Map.groupBy(
    errors.filter(({ code }) => code !== null && code !== ''),
    ({ code }) => code ?? '',
  );
  return [...byRule]
    .map(([code, all]): [string, number] => [code, all.length])
    .sort(([, one], [, other]) => other - one);
}
