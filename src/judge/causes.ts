import type { Classification } from '../domain/analysis.ts';
import type { Diagnostic, FailingTest, ThrownException } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { firstOfEach } from '../lib/collections.ts';
import { projectPath } from '../log/paths.ts';
import { NO_ERROR } from '../log/recognise/failures.ts';
import { saysNothing } from '../log/roles.ts';
import { bestOf, type Ruling } from './classify.ts';
import type { Facts } from './facts.ts';
import { hostOf, missingModuleName, ownServiceOf } from './line-facts.ts';
import { isForeignPath } from './paths.ts';
import type { Match } from './rule.ts';
import { reasonOf, titleOf } from './rule-words.ts';
import { linesFrom, listed, oneLine, spokenKind, toolName, wordsFor, wordsOf } from './wording.ts';

/** The cause in words: a title a person would say, and one to three sentences that say more than the title. */
interface Described {
  readonly title: string;
  readonly rootCause: string;
}

const MAX_TITLE = 120;
/** What a failed part of a log without marks of steps is called. */
const UNNAMED_STEP = 'log';

/**
 * Names the cause from the structured facts of a ruling; honest where they are thin. The evidence is to carry the statement; the root cause says
 * it with a word of caution where the log does not settle it.
 */
export function causeOf(ruling: Ruling, classification: Classification): Described & { readonly statement: string } {
  // What is too thin to decide is too thin to be the headline.
  const match = classification.abstained ? null : (bestOf(ruling.matches, classification.category) ?? ruling.decisive);
  const said = describe(ruling.facts, match, classification);
  const words = match === null ? null : wordsFor(match, ruling.facts);
  const title = match === null || words === null ? null : titleOf(match, words);
  const statement = (match === null || words === null ? null : reasonOf(match, words)) ?? said.rootCause;
  const rootCause = `${classification.abstained ? 'The log does not show a clear cause.  ' : ''}${statement}${stepOf(ruling.facts)}`;
  return { title: oneLine(title ?? said.title, MAX_TITLE), statement, rootCause };
}

/** In which step, and how it ended; empty where the log marks none. */
function stepOf({ subject }: Facts): string {
  // A log without marks is one section, called like its source.
  const failed = subject.failedSections.filter(
    ({ consequence, name, source }) => consequence !== true && name !== UNNAMED_STEP && !source.startsWith(name),
  );
  const [step] = failed;
  if (step === undefined) return '';
  const code = step.exitCode ?? subject.exits.at(-1)?.code ?? null;
  const more = failed.length === 1 ? '' : `, and ${failed.length - 1} more`;
  return ` It failed in the step “${oneLine(step.name, 100)}”${code === null ? '' : ` with exit code ${code}`}${more}.`;
}

function describe(facts: Facts, match: Match | null, classification: Classification): Described {
  const { kind } = classification;
  const text = match?.fact.text ?? '';
  if (match?.rule.name === 'not-formatted') return fromFormatter(facts) ?? fromWords(facts, match, kind);
  const diagnostic = COMPILED.has(kind) || DIAGNOSED.has(match?.rule.name ?? '') ? diagnosticOf(facts, match) : null;
  if (diagnostic !== null) return fromDiagnostic(diagnostic, facts);
  if (kind === 'assertion' || kind === 'snapshot' || kind === 'flaky_timing') return fromTest(facts, match, kind);
  if (kind === 'missing_module' && missingModuleName(text) !== null) return fromMissingModule(text, facts, classification);
  if (match?.rule.name.startsWith('tie-2') === true || match?.rule.name === 'connection-refused') return fromRefusal(text);
  const named = facts.subject.exceptions.find((entry) => text.startsWith(`${entry.type}: `));
  const exception = named ?? facts.productException;
  if ((kind === 'null_reference' || kind === 'crash') && exception != null) return fromException(exception, facts);
  return fromWords(facts, match, kind);
}

const COMPILED: ReadonlySet<string> = new Set([
  'compile_error',
  'type_error',
  'link_error',
  'lint_failure',
  'formatting_failure',
  'version_conflict',
]);
/** Rules of the set-up whose findings a tool lists with their places. */
const DIAGNOSED: ReadonlySet<string> = new Set(['compiler-options', 'workflow-file']);

/** The diagnostic the decisive fact came from, else the first error in a file of ours. */
function diagnosticOf(facts: Facts, match: Match | null): Diagnostic | null {
  const errors = errorsOf(facts);
  const same = errors.find((entry) => match?.fact.text.includes(entry.message.slice(0, 200)));
  const own = errors.find((entry) => entry.file !== null && !isForeignPath(entry.file));
  if (match?.rule.kind === 'version_conflict') return same ?? null;
  // The first error explains later ones more often than the other way round.
  return own ?? same ?? errors[0] ?? null;
}

/** Each once, and neither make's echo, nor a bare code, nor what a compiler says after its errors. */
function errorsOf({ subject }: Facts): Diagnostic[] {
  const errors = subject.diagnostics.filter(
    ({ severity, tool, message }) => severity === 'error' && tool !== 'make' && message.length > 7 && !saysNothing(message),
  );
  return firstOfEach(errors, ({ file, line, message }) => `${file}:${line} ${message}`);
}

function fromDiagnostic(entry: Diagnostic, facts: Facts): Described {
  const place = placeOf(entry.file, entry.line);
  const message = oneLine(entry.message, 240);
  const errors = errorsOf(facts).filter((other) => other.tool === entry.tool);
  const others = errors
    .filter((other) => other !== entry)
    .map((other) => oneLine([placeOf(other.file, other.line) ?? [], other.message].flat().join(' '), 140));
  const count = errors.length > 1 ? `${errors.length} errors, the first` : 'one error';
  const code = entry.code === null ? '' : ` (${entry.code})`;
  const rules = rulesIn(errors);
  const next =
    rules !== null
      ? rules
      : others.length === 0
        ? ''
        : ` Next: ${others.slice(0, 2).join('; ')}${others.length > 2 ? `; and ${others.length - 2} more` : ''}.`;
  return {
    title: place === null ? message : `${place}: ${message}`,
    rootCause: `${entry.tool === 'linter' ? 'The linter' : toolName(entry).replace(/^the /, 'The ')} reports ${count}${place === null ? '' : ` at ${place}`}${code}: ${message}.${next}`,
  };
}

/** Rules named in one sentence. */
const MAX_RULES = 8;

/** Names each rule of a linter or compiler with how often it was broken and where first; null where there are not several. */
function rulesIn(errors: readonly Diagnostic[]): string | null {
  const byRule = [...Map.groupBy(errors, ({ code }) => code ?? '').entries()].filter(([code]) => code !== '');
  if (byRule.length < 2) return null;
  const named = byRule.slice(0, MAX_RULES).map(([code, all]) => {
    const place = placeOf(all[0]?.file ?? null, all[0]?.line ?? null);
    return `${code}: ${all.length}${place === null ? '' : `, first at ${place}`}`;
  });
  const more = byRule.length > MAX_RULES ? `; and ${byRule.length - MAX_RULES} more rules` : '';
  return ` By rule: ${named.join('; ')}${more}.`;
}

/** Formatters name the files they would change, a line each. */
function fromFormatter(facts: Facts): Described | null {
  const errors = facts.subject.diagnostics.filter((entry) => entry.severity === 'error');
  const named = errors.flatMap((entry) => entry.file ?? /^\S{1,200}\.\w{1,6}$/.exec(entry.message)?.[0] ?? []);
  const files = [...new Set(named.map(projectPath))];
  if (files.length === 0) return null;
  const count = files.length === 1 ? 'is' : 'are';
  return {
    title: `${listed(files)} ${count} not formatted to the project style`,
    rootCause: `The formatter ran in check mode and would change ${files.length === 1 ? 'one file' : `${files.length} files`}: ${listed(files, 6)}.`,
  };
}

function fromTest(facts: Facts, match: Match | null, kind: string): Described {
  const test = decidedTest(facts, match);
  if (test === null) return fromWords(facts, match, kind === 'snapshot' ? 'snapshot' : 'assertion');
  const place = placeOf(test.file, test.line);
  const where = `${spokenTest(test)}${place === null ? '' : ` (${place})`}`;
  const more = otherTests(facts, test);
  const difference = kind === 'snapshot' ? firstDifference(test, facts.subject) : null;
  if (difference !== null)
    return {
      title: `${test.name} no longer matches its snapshot`,
      rootCause: `${where} renders "${difference.now}" where the stored snapshot has "${difference.stored}".${more}`,
    };
  const shown = checkedExpression(test, facts.subject);
  const check = shown === null ? '' : ` at \`${shown.replaceAll('`', "'")}\``;
  if (test.expected !== null && test.actual !== null) {
    const [expected, actual] = [oneLine(test.expected, 100), oneLine(test.actual, 100)];
    return {
      title: `${test.name}: expected ${expected} but got ${actual}`,
      rootCause: `${where} fails${check}: the test expects ${expected}, but the code returns ${actual}.${more}`,
    };
  }
  const words = (test.message ?? match?.fact.text ?? '').split('\n')[0] ?? '';
  const message = /^\s*(?:---? ?FAIL|FAILED\b)/.test(words) ? '' : oneLine(words.replace(/^(?:Assertion)?Error: /, ''), 240);
  if (kind === 'flaky_timing') {
    const what = message === '' ? 'its own time limit expired' : (/^.{10,200}?[^.\d](?=[.;] )/.exec(message)?.[0] ?? message);
    return {
      title: `${test.name}: ${what}`,
      rootCause: `${where} waited for a condition that was not met before the test timed out: ${what}.${more}`,
    };
  }
  return {
    title: message === '' ? `${test.name} fails` : `${test.name}: ${message}`,
    rootCause: `${where} fails${check}${message === '' ? ', and the log does not say what was expected' : `: ${message}`}.${more}`,
  };
}

function otherTests(facts: Facts, test: FailingTest): string {
  const others = facts.subject.failingTests
    .filter((other) => other.name !== test.name || other.suite !== test.suite)
    .map(({ name }) => oneLine(name, 80));
  return others.length === 0 ? '' : ` So ${others.length === 1 ? 'does' : 'do'} ${listed(others, 4)}.`;
}

function decidedTest(facts: Facts, match: Match | null): FailingTest | null {
  const { failingTests, failures } = facts.subject;
  const named = failingTests.find((test) => test.message !== null && match?.fact.text.startsWith(test.message.slice(0, 60)) === true);
  return named ?? failures.find((failure) => failure.test !== null)?.test ?? failingTests[0] ?? null;
}

function fromMissingModule(text: string, facts: Facts, { category }: Classification): Described {
  const name = missingModuleName(text) ?? '';
  const importer = importerOf(text, facts);
  const who = importer ?? 'The build';
  if (category === 'DEPENDENCY_ERROR')
    return {
      title: `The package ${name} is not installed`,
      rootCause: `${who} imports the package ${name}, but the job did not install it: it is not declared as a dependency, or the install step failed or was skipped.`,
    };
  return {
    title: `${importer === null ? 'The' : `${importer} imports ${name}, a`} module of the project ${importer === null ? name : 'that'} could not be found`,
    rootCause: `${who} imports ${name}, which should be a file in this project, but no such file exists: it was renamed, moved or not committed.`,
  };
}

/** The own file that asked for the module: as said on the line itself, in Node's list below it, or by the trace. */
function importerOf(text: string, facts: Facts): string | null {
  const stack = facts.all.map((fact) => fact.text).join('\n');
  const said = / from '([^'\n]{1,200})'/.exec(text)?.[1] ?? /Require stack:\s{1,4}- (\S{1,300})/.exec(stack)?.[1];
  const frame = facts.subject.exceptions.flatMap(({ frames }) => frames).find(({ own, file }) => own && !isForeignPath(file))?.file;
  const file = said ?? frame;
  return file === undefined || isForeignPath(file) ? null : projectPath(file);
}

function fromRefusal(text: string): Described {
  const own = ownServiceOf(text);
  const host = hostOf(text) ?? 'the service';
  if (own === null)
    return {
      title: `${host} refused the connection`,
      rootCause: `The job tried to connect to ${host}, an external service, and was refused.`,
    };
  const service = own.name ?? 'a service';
  return {
    title: `${own.name ?? 'Nothing'} ${own.name === null ? 'answers' : 'does not answer'} on ${host}`,
    rootCause: `The job tried to connect to ${host} (${service} that the job itself provides), but nothing is listening there: it was not started, or was not ready yet.`,
  };
}

function fromException(entry: ThrownException, facts: Facts): Described {
  const frames = [...entry.frames, ...facts.subject.failures.flatMap((failure) => failure.frames)];
  const own = frames.find((frame) => frame.own && !isForeignPath(frame.file));
  const place = own === undefined ? null : placeOf(own.file, own.line);
  const message = oneLine(entry.message, 260);
  const fn = own?.function == null || /^<|^Object\.<anonymous>$/.test(own.function) ? null : own.function.split('.').slice(-2).join('.');
  const where = [fn === null ? null : `in ${fn}`, place === null ? null : `${fn === null ? 'at ' : '('}${place}${fn === null ? '' : ')'}`];
  const at = where.filter((part) => part !== null).join(' ');
  const [test] = facts.subject.failingTests;
  const seen = test === undefined ? '' : ` ${spokenTest(test)} ran into it.${otherTests(facts, test)}`;
  const { verb, title } = wordingOf(shortType(entry.type));
  const who = fn === null ? (place ?? 'The program') : place === null ? fn : `${fn} (${place})`;
  return {
    title: title !== null ? `${title}${at === '' ? '' : ` ${at}`}` : `${shortType(entry.type)}${at === '' ? '' : ` ${at}`}: ${message}`,
    rootCause: `${who} ${verb} ${message}.${seen}`,
  };
}

/** How a thrown thing is spoken of: an exception is thrown, a program panics, two goroutines race. */
function wordingOf(type: string): { readonly verb: string; readonly title: string | null } {
  if (type === 'DATA RACE') return { verb: 'is accessed by several threads at once:', title: 'Data race' };
  if (type === 'panic') return { verb: 'panics:', title: null };
  return { verb: `throws ${type}:`, title: null };
}

function fromWords(facts: Facts, match: Match | null, kind: Classification['kind'] | string): Described {
  const { failures, messages } = facts.subject;
  const said = oneLine(
    (match === null ? null : wordsOf(match.fact)) ??
      messages[0]?.text ??
      failures.find(({ message }) => message !== NO_ERROR)?.message ??
      '',
    300,
  );
  if (said === '') return { title: 'The build failed without saying why', rootCause: 'No log line says why the build failed.' };
  return {
    title: said,
    rootCause: kind === 'unknown' ? `The most informative line is: ${said}.` : `${spokenKind(kind)}. The log says: ${said}.`,
  };
}

function placeOf(file: string | null, line: number | null): string | null {
  if (file === null) return null;
  const path = projectPath(file);
  return line === null ? path : `${path}:${line}`;
}

function shortType(type: string): string {
  return type.split('.').pop() ?? type;
}

/** The line of the test that did not hold, as the framework showed it; null where it showed none. */
function checkedExpression(test: FailingTest, subject: TriageSubject): string | null {
  for (const line of linesFrom(test.at, subject, 40)) {
    const shown =
      /^\s{0,12}>\s{1,12}(?:\d{1,6}\s{0,3}[|│]\s{0,60})?(?=\S)(?<code>(?:assert|expect|self\.|should|require|[\w.]{1,60}\().{1,300})$/.exec(
        line,
      )?.groups?.code;
    if (shown !== undefined) return oneLine(shown, 140);
  }
  return null;
}

/** A line of the stored text and the one that is in its place now; null where no difference was shown. */
function firstDifference(test: FailingTest, subject: TriageSubject): { readonly stored: string; readonly now: string } | null {
  const lines = linesFrom(test.at, subject, 60);
  for (const [index, line] of lines.entries()) {
    const next = lines[index + 1] ?? '';
    if (!/^\s{0,8}- {1,4}\S/.test(line) || !/^\s{0,8}\+ {1,4}\S/.test(next)) continue;
    if (/^\s{0,8}[-+] (?:Snapshot|Expected|Received|expected|received|actual)\b/.test(line)) continue;
    return { stored: oneLine(line.replace(/^\s{0,8}- /, ''), 80), now: oneLine(next.replace(/^\s{0,8}\+ /, ''), 80) };
  }
  return null;
}

/** A test as a person names it: with its suite, unless that only repeats a path or the name. */
function spokenTest({ name, suite }: Pick<FailingTest, 'name' | 'suite'>): string {
  if (suite === null || suite === '' || name.includes(suite) || /[/\\]|\.\w{1,4}$/.test(suite) || /^[\w.$]{1,300}$/.test(suite))
    return name;
  return `${suite} › ${name}`;
}
