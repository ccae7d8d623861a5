import type { Diagnostic } from '../domain/failure.ts';
import { MAX_DIAGNOSTICS } from '../domain/triage.ts';
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
  return length < MAX_DIAGNOSTICS ? String(length) : `${length} or more`;
}

/** Says what the other findings are: of the same message, of which rules, or the next ones. */
function nameOthers(entry: Diagnostic, errors: readonly Diagnostic[], others: readonly Diagnostic[]): string {
  if (others.length === 0) return '';
  const tell = ({ file, line }: Diagnostic) =>
    file === entry.file && line !== null ? `line ${line}` : (formatPlace(file, line) ?? '');
  if (others.every(({ message, file }) => message === entry.message && file !== null))
    return ` The same error is at ${listed(others.map(tell), MAX_PLACES)}.`;
  const rules = countRules(errors);
  if (rules.length > 1) {
    const named = rules.slice(0, MAX_NAMED).map(([code, count]) => `${code} (${count})`);
    return rules.length > MAX_NAMED
      ? ` Most break ${listed(named)}.`.replace('Most break', 'The most frequent are')
      : ` By rule: ${listed(named)}.`;
  }
  const next = others.slice(0, MAX_NAMED).map((other) => {
    const at = tell(other);
    return `${quoteWords(cleanWords(other.message, 120))}${at === '' ? '' : ` (${at})`}`;
  });
  const lead =
    others.length > MAX_NAMED
      ? 'Among the others are'
      : others.length === 1
        ? 'The other is'
        : 'The others are';
  return ` ${lead} ${listed(next)}.`;
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
