import type { Classification } from '../../../domain/analysis.ts';
import type { Diagnostic, FailingTest, ThrownException } from '../../../domain/failure.ts';
import { bestOf, type Ruling } from './classify.ts';
import type { Facts } from './facts.ts';
import { missingModuleName } from './modules.ts';
import { isForeignPath, projectPath } from './paths.ts';
import type { Match } from './rule.ts';
import { hostOf, ownServiceOf } from './services.ts';
import { titleOf } from './titles.ts';
import { SUMMARY_WORDS } from './vocabulary.ts';
import { spokenKind, toolName, wordsOf } from './words.ts';

/** The cause in words: a title a person would say, and one to three sentences. */
export interface Cause {
  readonly title: string;
  /** What the evidence is to carry. */
  readonly statement: string;
  /** The statement, with a word of caution where the log does not settle it. */
  readonly rootCause: string;
}

type Described = Pick<Cause, 'title' | 'rootCause'>;

const MAX_TITLE = 120;

/** Names the cause from the structured facts of a ruling; honest where they are thin. */
export function causeOf(ruling: Ruling, classification: Classification): Cause {
  const match = bestOf(ruling.matches, classification.category) ?? ruling.decisive;
  const said = describe(ruling.facts, match, classification);
  const title = match === null ? null : titleOf(match, ruling.facts);
  const statement = title === null ? said.rootCause : `${title}. ${withoutLead(said.rootCause, `${spokenKind(classification.kind)}. `)}`;
  const rootCause = classification.abstained ? `The log does not settle the cause. ${statement}` : statement;
  return { title: oneLine(title ?? said.title, MAX_TITLE), statement, rootCause };
}

/** The title already says what the kind says in general. */
function withoutLead(text: string, lead: string): string {
  return text.startsWith(lead) ? text.slice(lead.length) : text;
}

function describe(facts: Facts, match: Match | null, classification: Classification): Described {
  const { kind } = classification;
  const text = match?.fact.text ?? '';
  const compiled = ['compile_error', 'type_error', 'link_error', 'lint_failure', 'formatting_failure', 'version_conflict'].includes(kind);
  const diagnostic = compiled ? diagnosticOf(facts, match) : null;
  if (diagnostic !== null) return fromDiagnostic(diagnostic, facts);
  if (kind === 'assertion' || kind === 'snapshot' || kind === 'flaky_timing') return fromTest(facts, match, kind);
  if (kind === 'missing_module' && missingModuleName(text) !== null) return fromMissingModule(text, classification);
  if (match?.rule.name.startsWith('tie-2') === true || match?.rule.name === 'connection-refused') return fromRefusal(text);
  const named = facts.subject.exceptions.find((entry) => text.startsWith(`${entry.type}: `));
  const exception = named ?? facts.productException;
  if ((kind === 'null_reference' || kind === 'crash') && exception != null) return fromException(exception, facts);
  return fromWords(facts, match, kind);
}

/** The diagnostic the decisive fact came from, else the first error in a file of ours. */
function diagnosticOf(facts: Facts, match: Match | null): Diagnostic | null {
  const errors = facts.subject.diagnostics.filter((entry) => entry.severity === 'error' && isTellingDiagnostic(entry));
  const same = errors.find((entry) => match?.fact.text.includes(entry.message.slice(0, 200)));
  const own = errors.find((entry) => entry.file !== null && !isForeignPath(entry.file));
  if (same !== undefined) return same;
  return match?.rule.kind === 'version_conflict' ? null : (own ?? errors[0] ?? null);
}

/** Neither make's echo, nor a bare code, nor what a compiler says after its errors. */
function isTellingDiagnostic(entry: Diagnostic): boolean {
  return entry.tool !== 'make' && entry.message.length > 7 && !SUMMARY_WORDS.test(entry.message);
}

function fromDiagnostic(entry: Diagnostic, facts: Facts): Described {
  const others =
    facts.subject.diagnostics.filter((other) => other.severity === 'error' && other.tool !== 'make' && !SUMMARY_WORDS.test(other.message))
      .length - 1;
  const place = placeOf(entry.file, entry.line);
  const code = entry.code === null ? '' : ` (${entry.code})`;
  const message = oneLine(entry.message, 300);
  const more = others > 0 ? ` ${others} more ${others === 1 ? 'error follows' : 'errors follow'}.` : '';
  const title = place === null ? message : `${place}: ${message}`;
  return { title, rootCause: `${toolName(entry)} refuses ${place ?? 'the build'}${code}: ${message}.${more}` };
}

function fromTest(facts: Facts, match: Match | null, kind: string): Described {
  const test = decidedTest(facts, match);
  const said = match?.fact.text.split('\n')[0] ?? '';
  if (test === null) return fromWords(facts, match, kind === 'snapshot' ? 'snapshot' : 'assertion');
  const name = test.suite === null || test.name.includes(test.suite) ? test.name : `${test.suite} › ${test.name}`;
  const place = placeOf(test.file, test.line);
  const where = place === null ? '' : ` (${place})`;
  const count = facts.subject.failingTests.length;
  const more = count > 1 ? ` ${count - 1} more ${count === 2 ? 'test fails' : 'tests fail'} in the same build.` : '';
  if (test.expected !== null && test.actual !== null) {
    const gap = `expected ${oneLine(test.expected, 120)} but got ${oneLine(test.actual, 120)}`;
    return { title: `${test.name}: ${gap}`, rootCause: `Test ${name}${where} ${gap}.${more}` };
  }
  const words = test.message ?? said;
  const message = /^\s*(?:---? ?FAIL|FAILED\b)/.test(words) ? '' : oneLine(words, 300);
  const verb = kind === 'flaky_timing' ? 'waited in vain' : 'fails';
  return {
    title: message === '' ? `${test.name} ${verb}` : `${test.name}: ${message}`,
    rootCause: `Test ${name}${where} ${verb}${message === '' ? '' : `: ${message}`}.${more}`,
  };
}

function decidedTest(facts: Facts, match: Match | null): FailingTest | null {
  const { failingTests, failures } = facts.subject;
  const named = failingTests.find((test) => test.message !== null && match?.fact.text.startsWith(test.message.slice(0, 60)) === true);
  return named ?? failures.find((failure) => failure.test !== null)?.test ?? failingTests[0] ?? null;
}

function fromMissingModule(text: string, { category }: Classification): Described {
  const name = missingModuleName(text) ?? '';
  const whose = category === 'DEPENDENCY_ERROR' ? 'package' : 'module of the project';
  const why =
    category === 'DEPENDENCY_ERROR'
      ? 'It is not among the installed dependencies.'
      : 'It was renamed or moved, is not committed, or its path mapping is wrong.';
  return { title: `The ${whose} ${name} cannot be found`, rootCause: `The build imports ${name}, a ${whose} that cannot be found. ${why}` };
}

function fromRefusal(text: string): Described {
  const own = ownServiceOf(text);
  const host = hostOf(text) ?? 'the service';
  if (own === null)
    return { title: `${host} refused the connection`, rootCause: `A connection to ${host}, a service outside the job, was refused.` };
  const service = own.name ?? 'a service';
  return {
    title: `${own.name ?? 'Nothing'} ${own.name === null ? 'answers' : 'does not answer'} on ${host}`,
    rootCause: `The job connects to ${host} (${service} of the job itself), and nothing listens there: it was not started, or was not ready yet.`,
  };
}

function fromException(entry: ThrownException, facts: Facts): Described {
  const own =
    entry.frames.find((frame) => frame.own) ?? facts.subject.failures.flatMap((failure) => failure.frames).find((frame) => frame.own);
  const place = own === undefined ? null : placeOf(own.file, own.line);
  const where = place === null ? '' : ` at ${place}${own?.function == null ? '' : ` in ${own.function}`}`;
  const message = oneLine(entry.message, 300);
  const test = facts.subject.failingTests[0];
  const seen = test === undefined ? '' : ` Test ${test.name} shows it.`;
  return {
    title: `${shortType(entry.type)}${place === null ? '' : ` at ${place}`}: ${message}`,
    rootCause: `${entry.type}${where}: ${message}.${seen}`,
  };
}

function fromWords(facts: Facts, match: Match | null, kind: Classification['kind'] | string): Described {
  const said = oneLine(
    (match === null ? null : wordsOf(match.fact)) ?? facts.subject.failures[0]?.message ?? facts.subject.messages[0]?.text ?? '',
    300,
  );
  if (said === '') return { title: 'The build failed without saying why', rootCause: 'No line of the log says why the build failed.' };
  const step = facts.subject.failedSections[0]?.name;
  const where = step === undefined ? 'The failing step' : `The step "${oneLine(step, 80)}"`;
  return { title: said, rootCause: `${spokenKind(kind)}. ${where} says: ${said}` };
}

function placeOf(file: string | null, line: number | null): string | null {
  if (file === null) return null;
  const path = projectPath(file);
  return line === null ? path : `${path}:${line}`;
}

function shortType(type: string): string {
  return type.split('.').pop() ?? type;
}

function oneLine(text: string, most: number): string {
  const line = text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.:;,]$/, '');
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
