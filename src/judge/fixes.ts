import { type Classification, isNotDevelopersFault } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { type LineRole, roleOf } from '../log/roles.ts';
import { bestOf, type Ruling } from './classify.ts';
import { confirmedEntry, fittingDocument, lastingFailure } from './evidence-facts.ts';
import { hostOf, missingModuleName, ownServiceOf, packageOf } from './line-facts.ts';
import { isTestPath } from './paths.ts';
import { placesOf } from './places.ts';
import type { Match } from './rule.ts';
import { downloadHost, importerIn } from './rule-words.ts';
import { explainByVersions } from './versions/explain.ts';
import { find, linesFrom, oneLine, type Words, wordsFor } from './wording.ts';

/**
 * One thing to do: what a person confirmed, else what the rule advises, else what the kind does with the advice that the failed tool itself prints; a
 * document's advice only where none of them has any.
 */
export function fixOf(ruling: Ruling, classification: Classification, evidence: readonly Evidence[]): string {
  const lasting = isNotDevelopersFault(classification) ? lastingFailure(evidence) : null;
  const again =
    lasting === null ? '' : `It failed this way ${lasting.times} times in a row, since #${lasting.since}: rerunning it will not help. `;
  return `${again}${adviceOf(ruling, classification, evidence)}`;
}

function adviceOf(ruling: Ruling, classification: Classification, evidence: readonly Evidence[]): string {
  const confirmed = confirmedEntry(evidence, classification.category);
  if (confirmed?.fix != null) return `${confirmed.fix} (confirmed by ${confirmed.confirmedBy} for an earlier failure of this kind)`;
  const match = bestOf(ruling.matches, classification.category);
  const byVersions = match === null ? null : explainByVersions(match, ruling.facts);
  if (byVersions !== null) return byVersions.fix;
  const byRule = ADVICE_BY_RULE[match?.rule.name ?? ''];
  if (byRule !== undefined) return byRule(givenBy(ruling, match));
  const printed = printedAdvice(ruling.facts.subject);
  const byKind = classification.kind === 'unknown' ? undefined : ADVICE_BY_KIND[classification.kind];
  if (byKind !== undefined) return `${byKind(givenBy(ruling, match))}${printed === null ? '' : ` The log says: “${printed}”.`}`;
  if (printed !== null) return `The log says what to do: “${printed}”.`;
  const document = fittingDocument(evidence, classification.category, classification.kind);
  return document?.fix ?? startingPoint(ruling);
}

/** The line beside the informative ones in which the tool says what to do about it; null where none does. */
function printedAdvice(subject: TriageSubject): string | null {
  // What is reported is no advice, however it is worded: "Use 'const' instead".
  const findings = new Set(subject.diagnostics.map(({ at }) => `${at?.source}:${at?.line}`));
  for (const { at } of subject.messages.slice(0, MOST_TELLING)) {
    for (const [offset, shown] of linesFrom(at, subject, 1 + LINES_BELOW).entries()) {
      const text = shown.trimStart();
      if (
        !findings.has(`${at?.source}:${(at?.line ?? 0) + offset}`) &&
        ADVICE.test(text) &&
        ADVISING.has(roleOf(text)) &&
        !FETCHES.test(text)
      )
        return oneLine(text.replace(SEVERITY, ''), 240);
    }
  }
  return null;
}

const [MOST_TELLING, LINES_BELOW] = [3, 6];
/** A log is written by strangers: what fetches and runs something is never passed on as advice. */
const FETCHES = /\b(?:curl|wget|iwr|iex|eval|Invoke-\w{1,40})\b|\|\s{0,4}(?:sudo\s{1,4})?(?:ba|z|da)?sh\b|\$\(/i;
const ADVISING: ReadonlySet<LineRole> = new Set(['cause', 'notice']);
const SEVERITY = /^[^\p{L}\p{N}"'`(<]{0,20}(?:(?:error|warning|err!|help|hint|note|suggestion)\b[\]:! ]{0,3})?/iu;
const ADVICE =
  /(?:^|[.:;!?—–-] {1,3}|\bplease )(?:try|run|use|install|upgrade|update|add|set|remove|rename|pass|specify|check|ensure|make sure|consider|provide|create|change|increase|did you (?:mean|forget))\b(?! \w{2,20}(?:ing|ed)\b)|\byou (?:need|have|must|should|can|may want)\b/i;

function startingPoint(ruling: Ruling): string {
  const place = placeText(ruling);
  const [step] = ruling.facts.subject.failedSections;
  if (place !== NO_PLACE) return `Start at ${place}, which the log names; nothing in the log says what to change.`;
  return `Read the quoted lines${step === undefined ? '' : ` of the step “${oneLine(step.name, 80)}”`}; nothing in the log says what to change.`;
}

function givenBy(ruling: Ruling, match: Match | null): Given {
  const { facts } = ruling;
  const test = facts.subject.failingTests[0]?.name;
  const words = match === null ? { line: '', log: '', facts } : wordsFor(match, facts);
  return { text: words.line, words, place: placeText(ruling), test: test === undefined ? 'the test' : quoted(oneLine(test, 100)) };
}

function placeText(ruling: Ruling): string {
  const places = placesOf(ruling.facts.subject);
  const code = places.filter((one) => !isTestPath(one.path));
  const place = code.find((one) => one.line !== null) ?? code[0] ?? places[0];
  return place === undefined ? NO_PLACE : place.line === null ? place.path : `${place.path}:${place.line}`;
}

const NO_PLACE = 'the named file';

/** A name of several words is distinguished from the sentence around it. */
function quoted(name: string): string {
  return name.includes(' ') ? `“${name}”` : name;
}

/** What a piece of advice may name. */
interface Given {
  readonly text: string;
  readonly words: Words;
  /** "src/a.ts:3", or "the named file". */
  readonly place: string;
  readonly test: string;
}

/** One sentence: what to do. */
type Advice = (given: Given) => string;

/** By the rule that decided. */
const ADVICE_BY_RULE: Readonly<Record<string, Advice>> = {
  'tie-2-refused-by-own-service': serviceAdvice,
  'docker-daemon': () => 'Start the Docker daemon on the runner (or give the job access to one), or move the job to a runner that has it.',
  'killed-137': () => 'Raise the memory limit of this step, or have it do less work at a time.',
  'compiler-options': ({ place }) =>
    `Correct the options in ${place === 'the named file' ? 'the project file' : place} as the messages say.`,
  'npm-eresolve': ({ words }) => {
    const found = find(words, /Found: (\S{1,120})/);
    const peer = /peer \S{1,120}@"[^"\n]{1,80}" from (\S{1,120})@/.exec(words.log)?.[1];
    if (found === null || peer === undefined) return 'Choose versions whose peer ranges overlap, then update the lock file.';
    return `Move ${peer} to a release that accepts ${found} (or revert ${found}), run npm install, and commit package.json with its lock file.`;
  },
  'lockfile-out-of-step': ({ words, text }) => {
    if (/go\.sum/.test(text)) return 'Run go mod tidy and commit go.mod and go.sum together.';
    const tool = /\b(pnpm|yarn|poetry|bundle|cargo)\b/.exec(words.line)?.[1] ?? 'npm';
    return `Run ${tool} install where the manifest was changed and commit the updated lock file with it; keep the frozen install in CI.`;
  },
  'npm-version-missing': () =>
    'Correct the package name or the version range in the manifest to one that the registry has, and update the lock file.',
  'pip-no-matching-distribution': ({ words }) => {
    const wanted = find(words, /No matching distribution found for ([\w.-]{1,80})/);
    const newest = find(words, /\(from versions: ([^)\n]{1,2000})\)/)
      ?.split(', ')
      .at(-1);
    if (wanted === null || newest === undefined || newest === 'none')
      return 'Correct the name or version in the requirements, or use a Python version that the release supports.';
    return `Pin ${wanted} to a release that exists, such as ${newest}.`;
  },
  'pip-conflict': ({ words }) => {
    const asked = find(words, /The user requested (\S{1,120})/);
    const needs = /^\s{2,8}(\S{1,80}) (?:\S{1,40}) depends on (\S{1,120})/m.exec(words.log);
    if (asked === null || needs === null)
      return 'Loosen or align the pins named in the conflict until one set of versions satisfies all of them.';
    return `Change the pin ${asked} to a release that satisfies ${needs[2]}, or pin another version of ${needs[1]}.`;
  },
  'cargo-cannot-select': ({ words }) => {
    const wanted = find(words, /requirement `([^`\n=]{1,80}?) ?=/);
    return `Change the requirement${wanted === null ? '' : ` for ${wanted}`} in Cargo.toml to a version that is published, then build once and commit Cargo.lock.`;
  },
  'maven-unresolvable': ({ words }) =>
    `Correct the coordinates ${find(words, /Could not find artifact (\S{1,200})/, /> Could not find (\S{1,200}?)\.?$/m) ?? 'in the build file'} to a version that is published, or add the repository that has it.`,
  'library-not-found': ({ words }) => {
    const name = find(words, /provided by "([^"\n]{1,80})"/);
    return `Install the development package of ${name ?? 'the library'} in an earlier step, or let the build fetch it.`;
  },
  'manifest-malformed': ({ words }) =>
    `Correct the syntax of ${find(words, /Invalid ([\w.-]{1,60}\.json)/) ?? 'the manifest'} where the message points.`,
  'import-name-gone': ({ words }) => {
    const from = /cannot import name '?\w{1,80}'? from (?:partially initialized module )?'?([\w.]{1,120})/.exec(words.log)?.[1];
    const user = importerIn(words);
    if (from === undefined || user === undefined)
      return 'Align the versions named in the message, or postpone the upgrade until its dependents are updated.';
    return `Upgrade ${user} to a release that works with the installed ${from}, or pin ${from} to a version that ${user} supports.`;
  },
  'tie-5-registry-refused-access': loginAdvice,
  'credentials-refused': loginAdvice,
  'script-path-missing': fileAdvice,
  'path-missing': fileAdvice,
  'undefined-reference': ({ words }) => {
    const symbol = find(words, /undefined reference to [`'"‘]([^`'"’\n]{1,120})/);
    return `Add the object or library that defines ${symbol ?? 'the missing symbol'} to the link step (in a Makefile, to its list of objects).`;
  },
  'command-time-limit': ({ words }) => {
    const command = find(words, /sending signal \w{1,10} to command [‘'`"]([^’'`"\n]{1,120})/);
    const slow = downloadHost(words.log) ?? (/% Received/.test(words.log) ? 'a slow server' : null);
    return `Find out what ${command ?? 'the command'} waited for${slow === null ? '' : ` (it was downloading from ${slow})`}; raise the limit only if there is more work to do.`;
  },
  'go-module-missing': () => 'Add the module with go get, run go mod tidy, and commit go.mod and go.sum.',
  'not-executable': ({ text }) =>
    `Set the executable bit and commit it: git update-index --chmod=+x ${/([\w./-]{2,200}): [Pp]ermission/.exec(text)?.[1] ?? 'the script'}.`,
  'secret-missing': ({ text }) =>
    `Add ${variableIn(text)} to the secrets of the repository or environment and pass it to the step; forks and bots do not receive secrets.`,
  'variable-missing': ({ text }) => `Set ${variableIn(text)} for the step that needs it, or give it a default.`,
  'command-not-found': ({ text }) =>
    `Install ${commandIn(text)} in an earlier step (or use an image that has it) and make sure it is on PATH.`,
  'wrong-runtime-version': ({ words }) => {
    const go = /requires go >= (\S{1,20}) \(running go/.exec(words.log)?.[1];
    if (go !== undefined) return `Install Go ${go} in the job, or lower the go line of go.mod to a release that the job has.`;
    const node = /Required: \{"node":"([^"\n]{1,60})"/.exec(words.log)?.[1];
    if (node !== undefined) return `Set the job's Node to a version in ${node}, or widen engines.node in package.json.`;
    return 'Use the runtime version that the tool requires in the setup step, or lower the requirement in the project.';
  },
  'git-reference': () =>
    'Check that the branch, tag or commit exists on the remote and is fetched deeply enough; pull and rebase before pushing from a job.',
  'artifact-clash': () => "Give each matrix job's artifact its own name.",
  'segmentation-fault': ({ place }) =>
    `Run ${place === 'the named file' ? 'the crashing program' : place} under a debugger or with a sanitizer; check the pointer or index used last.`,
  'data-race': ({ place }) => `Guard the shared data (${place}) with a lock or a channel, or stop sharing it.`,
  'linkage-error': () =>
    'Two versions of the library conflict at run time: align them (dependency tree, exclusions) so that the class or method loaded is the one compiled against.',
  'os-package-missing': () =>
    'Correct the name or version of the system package, enable the repository that has it, or refresh the package index first.',
};

/** By the kind, where the rule has no advice of its own. */
const ADVICE_BY_KIND: Readonly<Record<string, Advice>> = {
  compile_error: ({ place }) => `Correct ${place} as the compiler says, and compile locally with the same options.`,
  type_error: ({ place }) => `Make the types match at ${place}: change the value, or the declared type if that is what changed.`,
  link_error: () =>
    'Add the library or object that defines the missing symbol to the link step, or correct the declaration so that the names match.',
  null_reference: ({ place }) => `Handle the missing value at ${place}: check it before use, or make sure it is set where it is created.`,
  crash: ({ place }) => `Correct the code at ${place} that the trace names, and keep the failing input as a test.`,
  lint_failure: ({ place }) => `Fix the finding at ${place}, or add an exception to the rule's configuration.`,
  formatting_failure: ({ words }) =>
    /prettier/i.test(words.log)
      ? 'Run npx prettier --write . and commit the result.'
      : "Run the project's formatter in write mode and commit the result.",
  assertion: ({ test, place }) =>
    `Check what the latest change did to the value that ${test} tests${place === 'the named file' ? '' : ` (start at ${place})`}: correct the code, or the assertion if the new value is intended.`,
  snapshot: ({ test }) =>
    `Review the difference in ${test}: update the snapshot and commit it if every changed line is intended; otherwise, correct the code that renders it.`,
  flaky_timing: ({ test }) => `Let ${test} wait for the condition itself, or use a fake clock, instead of racing a fixed time.`,
  timeout: () =>
    'Find the step that used the time and look for a process that never ends; raise the limit only if there is more work to do.',
  out_of_memory: () => 'Give the step more memory (or the process a larger heap), or run fewer workers at once.',
  disk_full: () => 'Free space before the step (caches, images, old artifacts) or use a runner with a larger disk.',
  network: ({ text, words }) =>
    `Rerun the job once ${hostOf(text) ?? downloadHost(words.log) ?? 'the remote host'} answers, and give that request a bounded retry.`,
  service_unavailable: serviceAdvice,
  runner_lost: () => 'Rerun on a healthy runner; if the failure repeats, check the memory and load of the machine.',
  rate_limited: () => 'Rerun when the limit resets, and cache downloads between jobs to make fewer requests.',
  permission_or_secret: () => 'Give the step the permission or secret that it lacks, and no more than that.',
  workflow_config: ({ place }) =>
    place === 'the named file'
      ? 'Correct the pipeline file or the command line as the message says.'
      : `Correct ${place} as the message says, and check the file with the same tool before pushing.`,
  environment: () => 'Set up what the step needs in an earlier step of the job.',
  missing_file: ({ text }) =>
    `Check the path ${/['"‘]?((?:\.{0,2}\/)?[\w.-]{1,80}(?:\/[\w.-]{1,80}){1,12})['"’]?/.exec(text)?.[1] ?? 'in the message'}: the working directory of the step, and whether an earlier step creates it.`,
  missing_module: moduleAdvice,
  version_conflict: () => 'Align the versions named in the message, or postpone the upgrade until its dependents are updated.',
  process_gate: () => "Make the change meet the check's requirement; the check says nothing about the code itself.",
  upstream_job: () => 'Look at the job that failed; this one only reports the failure.',
  threshold: () => 'Bring the measured value back over the threshold, or change the threshold if the drop is intended.',
  vulnerability: () => 'Update the named package to a release without the advisory, or document why it does not apply.',
  dependency_install: () => 'Correct the name or version of the dependency to one that its registry has, or install what its build needs.',
  docker_build: () => 'Correct the failing Dockerfile instruction: the path relative to the build context, or the base image.',
};

function fileAdvice({ words }: Given): string {
  const path = find(words, /no such file or directory, \w{1,10} '([^'\n]{1,300})'/);
  if (path === null) return 'Correct the path in the message, or create the file in an earlier step.';
  const at = path.lastIndexOf('/');
  const where = at > 0 ? ` (it looked in ${path.slice(0, at)})` : '';
  return `Set the step's working directory to the folder that holds ${path.slice(at + 1)}${where}, or create the file first.`;
}

function loginAdvice({ words }: Given): string {
  const empty = find(words, /^ {2,8}([A-Z][A-Z0-9_]{2,60}(?:TOKEN|KEY|SECRET|PASSWORD)[A-Z0-9_]{0,20}): ?$/m);
  if (empty !== null)
    return `Give ${empty} its value: create the secret or correct its name in the workflow; jobs from forks do not receive secrets.`;
  return 'Check that the token or login used by this step exists, has not expired, and has the scope that the refused call needs.';
}

function serviceAdvice({ text }: Given): string {
  const own = ownServiceOf(text);
  if (own === null) return `Rerun once ${hostOf(text) ?? 'the service'} responds, and check its status page.`;
  const where = own.port === null ? own.host : `${own.host}:${own.port}`;
  return `Start ${own.name ?? 'the service'} in the job (a service container or an earlier step) and wait until ${where} accepts connections before the step runs.`;
}

function moduleAdvice({ text }: Given): string {
  const name = missingModuleName(text) ?? 'the module';
  if (/^[./@~]/.test(name) && !/^@[\w-]+\//.test(name))
    return `Check that ${name} exists with exactly this spelling, is committed, and that the import was updated with it.`;
  const published = /No module named/.test(text) ? packageOf(name) : name;
  return `Declare ${published} as a dependency (or install it in the job), or correct the import if it was renamed.`;
}

function variableIn(text: string): string {
  return /\b([A-Z][A-Z0-9_]{3,60})\b/.exec(text)?.[1] ?? 'the variable';
}

function commandIn(text: string): string {
  return (
    /(?:^|[\s:])([\w+.-]{1,60}): (?:command )?not found/.exec(text)?.[1] ??
    /'([\w+.-]{1,60})' (?:is not recognized|must be)/.exec(text)?.[1] ??
    /exec: "([\w+./-]{1,60})"/.exec(text)?.[1] ??
    'the missing command'
  );
}
