import type { Diagnostic } from '../domain/failure.ts';
import { MAX_DIAGNOSTICS } from '../domain/triage.ts';
import { takeFirstOfEach } from '../lib/collections.ts';
import { type Described, formatPlace, joinTitle } from './described.ts';
import type { Facts } from './facts.ts';
import { listErrors } from './leading-diagnostic.ts';
import { cleanWords, quoteWords } from './values/clean.ts';
import { getToolName, joinWords, readLinesFrom } from './wording.ts';

/** The maximum number of rules or findings in one sentence, and of places of the same finding. */
const [MAX_NAMED, MAX_PLACES] = [2, 3];

/** Describes the findings of a compiler or linter: their number, the leading one, and the others. */
export function describeFinding(entry: Diagnostic, facts: Facts): Described {
  const place = formatPlace(entry.file, entry.line);
  const message = cleanWords(nameSymbol(entry, facts), 240);
  const errors = listErrors(facts).filter(({ tool }) => tool === entry.tool);
  const name = entry.tool === 'linter' ? 'the linter' : getToolName(entry);
  // A message without a place only resembles those of such tools.
  const isForm = place === null && /^(?:esbuild|poetry)$/.test(name) && !facts.shown.includes(name);
  const tool = (isForm ? 'the failed command' : name).replace(/^the /, 'The ');
  const code = entry.code === null || message.includes(entry.code) ? '' : ` (${entry.code})`;
  const found = `${quoteWords(message)}${code}`;
  const title = joinTitle(place, message);
  const where = place === null ? '' : ` at ${place}`;
  if (errors.length <= 1) return { title, cause: `${tool} reports an error${where}: ${found}.` };
  const rules = nameRules(errors);
  const first = place === null ? `The first is ${found}` : `The first is${where}: ${found}`;
  const others = errors.filter((other) => other !== entry);
  const more = rules === '' ? nameOthers(entry, others) : '';
  return { title, cause: `${tool} reports ${countErrors(errors, facts)} errors${rules}. ${first}.${more}` };
}

/** Adds the symbol that javac names on a line below its message. */
function nameSymbol({ message, at }: Diagnostic, { subject }: Facts): string {
  if (message !== 'cannot find symbol') return message;
  const below = readLinesFrom(at, subject, 6).slice(1);
  const symbol = below.flatMap((line) => /\bsymbol ?: {1,5}(\S.{0,160})/.exec(line)?.[1] ?? [])[0];
  return symbol === undefined ? message : `${message}: ${symbol}`;
}

/** A count of errors that the tool itself printed. */
const OWN_COUNT = /\bFound (\d{1,6}) errors?\b|\b\d{1,6} problems? \((\d{1,6}) errors?/g;

/**
 * Counts errors. If only one tool reports errors and printed a higher count, uses that, because a subject
 * contains only the first of many.
 */
function countErrors({ length }: readonly Diagnostic[], facts: Facts): string {
  const isAlone = listErrors(facts).length === length;
  const ownCounts = Array.from((isAlone ? facts.shown : '').matchAll(OWN_COUNT), ([, found, errors]) =>
    Number(found ?? errors),
  );
  const most = ownCounts.reduce((highest, value) => Math.max(highest, value), length);
  return most === length && length >= MAX_DIAGNOSTICS ? `at least ${length}` : String(most);
}

/**
 * Names the rules that several errors violate, in parentheses. Returns an empty text if there are fewer than
 * two rules.
 */
function nameRules(errors: readonly Diagnostic[]): string {
  const [first, ...next] = countRules(errors).filter(([, count]) => count > 1);
  if (first === undefined || errors.length <= 3 || first[1] === errors.length) return '';
  return ` (${[first]
    .concat(next)
    .slice(0, MAX_NAMED)
    .map(([code, count]) => `${count} × ${code}`)
    .join(', ')})`;
}

/** Describes the other findings: the same one elsewhere, or the next different ones. */
function nameOthers(entry: Diagnostic, others: readonly Diagnostic[]): string {
  const tellPlace = ({ file, line }: Diagnostic) =>
    file === entry.file && line !== null ? `line ${line}` : (formatPlace(file, line) ?? '');
  const different = takeFirstOfEach(others, ({ message }) => message).filter(
    ({ message }) => message !== entry.message,
  );
  if (different.length === 0) {
    const entryPlace = formatPlace(entry.file, entry.line);
    const places = others
      .filter(({ file, line }) => formatPlace(file, line) !== entryPlace)
      .map(tellPlace)
      .filter((place) => place !== '');
    return places.length === 0
      ? ''
      : ` The same error is at ${joinWords(places, MAX_PLACES, 'other places')}.`;
  }
  const next = different.slice(0, MAX_NAMED).map((other) => {
    const place = tellPlace(other);
    return `${quoteWords(cleanWords(other.message, 120))}${place === '' ? '' : ` (${place})`}`;
  });
  if (next.length < others.length) return ` The others include ${joinWords(next)}.`;
  return ` The ${next.length === 1 ? 'other is' : 'others are'} ${joinWords(next)}.`;
}

/** Counts the findings of each rule of a linter or compiler, most frequent first. */
function countRules(errors: readonly Diagnostic[]): [string, number][] {
  const byRule = Map.groupBy(
    errors.filter(({ code }) => code !== null && code !== ''),
    ({ code }) => code ?? '',
  );
  return [...byRule]
    .map(([code, all]): [string, number] => [code, all.length])
    .sort(([, left], [, right]) => right - left);
}
