import type { Classification } from '../../../domain/analysis.ts';
import type { Evidence } from '../../../domain/evidence.ts';
import { bestOf, type Ruling } from './classify.ts';
import { missingModuleName } from './modules.ts';
import { placesOf } from './places.ts';
import { confirmedEntry, fittingDocument } from './retrieved.ts';
import { hostOf, ownServiceOf } from './services.ts';

/** What to do: a person's confirmed fix first, else what the rule and kind advise, then the fitting document's advice. */
export function fixOf(ruling: Ruling, classification: Classification, evidence: readonly Evidence[]): string {
  const confirmed = confirmedEntry(evidence, classification.category);
  if (confirmed?.fix != null) return `${confirmed.fix} (confirmed by ${confirmed.confirmedBy} for an earlier failure of this kind)`;
  const match = bestOf(ruling.matches, classification.category);
  const text = match?.fact.text ?? '';
  const own = ADVICE_BY_RULE[match?.rule.name ?? ''] ?? ADVICE_BY_KIND[classification.kind] ?? ADVICE_BY_KIND.unknown;
  const advice =
    own === undefined ? '' : own({ text, place: placeText(ruling), test: ruling.facts.subject.failingTests[0]?.name ?? 'the test' });
  const document = fittingDocument(evidence, classification.category, classification.kind);
  return document?.fix == null ? advice : `${advice} ${document.evidence.title}: ${document.fix}`;
}

interface Given {
  readonly text: string;
  /** "src/a.ts:3", or "the named file". */
  readonly place: string;
  readonly test: string;
}

type Advice = (given: Given) => string;

const ADVICE_BY_RULE: Readonly<Record<string, Advice>> = {
  'tie-2-refused-by-own-service': serviceAdvice,
  'docker-daemon': () => 'Start the docker daemon on the runner (or give the job access to one), or move the job to a runner that has it.',
  'killed-137': () => 'The process was killed, most often for want of memory: give the step more memory, or run fewer workers at once.',
  'manifest-malformed': () => 'Mend the syntax of the manifest at the place that the message names.',
  'compiler-options': () => 'Correct the compiler options in the project file as the messages say.',
  'npm-eresolve': () =>
    'Choose versions whose peer ranges overlap: raise or lower the package named in the conflict, then renew the lock file.',
  'lockfile-out-of-step': () =>
    "Run the package manager's install locally, commit the renewed lock file together with the manifest, and keep the frozen install in CI.",
  'npm-version-missing': () =>
    'Correct the package name or the version range in the manifest to one that the registry has, and renew the lock file.',
  'pip-no-matching-distribution': () =>
    'Correct the name or version in the requirements, or run a Python version for which that release exists.',
  'pip-conflict': () => 'Loosen or align the pins named in the conflict until one set of versions satisfies all of them.',
  'cargo-cannot-select': () =>
    'Change the version requirement in Cargo.toml to one that is published (or enable the registry that has it), then run cargo update for that crate.',
  'go-module-missing': () => 'Add the module with go get, run go mod tidy, and commit go.mod and go.sum.',
  'not-executable': ({ text }) =>
    `Set the executable bit and commit it: git update-index --chmod=+x ${/([\w./-]{2,200}): [Pp]ermission/.exec(text)?.[1] ?? 'the script'}.`,
  'secret-missing': ({ text }) =>
    `Add ${variableIn(text)} to the secrets of the repository or environment and pass it to the step; forks and bots do not get secrets.`,
  'variable-missing': ({ text }) => `Set ${variableIn(text)} for the step that needs it, or give it a default.`,
  'credentials-refused': () =>
    'Check that the token or login used by this step exists, has not expired, and has the scope that the refused call needs.',
  'command-not-found': ({ text }) =>
    `Install ${commandIn(text)} in an earlier step (or use an image that has it) and make sure it is on PATH.`,
  'wrong-runtime-version': () =>
    'Use the runtime version that the tool asks for in the set-up step, or lower the requirement in the project.',
  'git-reference': () =>
    'Check that the branch, tag or commit exists on the remote and is fetched deeply enough; pull and rebase before pushing from a job.',
  'artifact-clash': () => "Give each matrix job's artifact its own name.",
  'segmentation-fault': ({ place }) =>
    `Run ${place === 'the named file' ? 'the crashing program' : place} under a debugger or with a sanitizer; check the pointer or index used last.`,
  'data-race': ({ place }) => `Guard the shared data (${place}) by a lock or a channel, or stop sharing it.`,
  'linkage-error': () =>
    'Two versions of the library meet at run time: align them (dependency tree, exclusions) so that the class or method that was compiled against is the one loaded.',
  'os-package-missing': () =>
    'Correct the name or version of the system package, enable the repository that has it, or refresh the package index first.',
};

const ADVICE_BY_KIND: Readonly<Record<string, Advice>> = {
  compile_error: ({ place }) => `Correct ${place} as the compiler says, and compile locally with the same options.`,
  type_error: ({ place }) => `Make the types fit at ${place}: change the value, or the declared type where that is what changed.`,
  link_error: () =>
    'Add the library or object that defines the missing symbol to the link step, or correct the declaration so that the names match.',
  null_reference: ({ place }) => `Handle the missing value at ${place}: check it before use, or make sure it is set where it is created.`,
  crash: ({ place }) => `Correct the code at ${place} that the trace names, and keep the failing input as a test.`,
  lint_failure: ({ place }) => `Mend the finding at ${place}, or agree on an exception in the rule's configuration.`,
  formatting_failure: () => "Run the project's formatter and commit the result.",
  assertion: ({ test, place }) =>
    `Decide which is right: if the behaviour changed by intent, correct the expectation in ${test}; otherwise correct the code it checks (start at ${place}).`,
  snapshot: ({ test }) =>
    `Look at the difference in ${test}; if it is intended, renew the snapshot and commit it, else correct the code that renders it.`,
  flaky_timing: ({ test }) =>
    `Let ${test} wait for the condition itself instead of for a fixed time, and look at its history before raising the limit.`,
  timeout: () => 'Find the step that used the time; raise the limit only where the work has grown, and look for a process that never ends.',
  out_of_memory: () => 'Give the step more memory (or the process a larger heap), or run fewer workers at once.',
  disk_full: () => 'Free space before the step (caches, images, old artifacts) or use a runner with a larger disk.',
  network: ({ text }) =>
    `Run again once ${hostOf(text) ?? 'the remote host'} answers; add a bounded retry to that download if this happens often.`,
  service_unavailable: serviceAdvice,
  runner_lost: () => 'Run again on a healthy runner; where it repeats, look at the memory and load of the machine.',
  rate_limited: () => 'Authenticate the requests, cache what is fetched, or wait until the limit is reset.',
  permission_or_secret: () => 'Give the step the permission or secret that was refused, and no more than that.',
  workflow_config: () => 'Correct the pipeline file or the command line as the message says.',
  environment: () => 'Provide what the step expects of its environment in an earlier step of the job.',
  missing_file: ({ text }) =>
    `Check the path ${/['"‘]?((?:\.{0,2}\/)?[\w.-]{1,80}(?:\/[\w.-]{1,80}){1,12})['"’]?/.exec(text)?.[1] ?? 'in the message'}: the working directory of the step, and whether an earlier step creates it.`,
  missing_module: moduleAdvice,
  version_conflict: () => 'Align the versions named in the message, or hold the upgrade back until its users are adapted.',
  dependency_install: () =>
    'Correct the name or version of the dependency to one that its registry has, or install what it needs to be built.',
  docker_build: () => 'Correct the instruction of the Dockerfile that failed: the path relative to the build context, or the base image.',
  unknown: () => 'Read the quoted lines; the log alone does not say what to change.',
};

function serviceAdvice({ text }: Given): string {
  const own = ownServiceOf(text);
  if (own === null) return `Run again once ${hostOf(text) ?? 'the service'} answers, and check its status page.`;
  const where = own.port === null ? own.host : `${own.host}:${own.port}`;
  return `Start ${own.name ?? 'the service'} in the job (a service container or an earlier step) and wait until ${where} accepts connections before the step runs.`;
}

function moduleAdvice({ text }: Given): string {
  const name = missingModuleName(text) ?? 'the module';
  if (/^[./@~]/.test(name) && !/^@[\w-]+\//.test(name))
    return `Check that ${name} exists with exactly this spelling, is committed, and that the import was renamed with it.`;
  return `Declare ${name} as a dependency (or install it in the job), or correct the import if it was renamed.`;
}

function placeText(ruling: Ruling): string {
  const place = placesOf(ruling.facts.subject)[0];
  return place === undefined ? 'the named file' : place.line === null ? place.path : `${place.path}:${place.line}`;
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
