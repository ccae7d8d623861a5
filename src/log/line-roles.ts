import type { LogText } from './lines/lines.ts';
import { isWithin } from './sections/system.ts';
import type { Structure } from './sections.ts';

/**
 * The role of a line of a log: `echo`, a command or setting shown before it runs; `progress`, what a tool
 * does next; `passing`, a test or check that did not fail; `notice`, a warning or remark; `ending`, how
 * something ended, without the reason; `wrapper`, a line that only introduces the real message, which is
 * further inside; `cause`, anything else with text. Only a `cause` may decide or be quoted as proof, and only
 * a `cause` or a `notice` may be the headline.
 */
export type LineRole = 'blank' | 'echo' | 'progress' | 'passing' | 'notice' | 'ending' | 'wrapper' | 'cause';

/** All roles, in the order in which they are tried. */
export const LINE_ROLES: readonly LineRole[] = [
  'blank',
  'ending',
  'wrapper',
  'echo',
  'passing',
  'progress',
  'notice',
  'cause',
];

/** Markers that runners print before a sentence of any role. */
const MARK =
  String.raw`(?:##\[error\]|::error(?: [^:\n]{0,200})?::|\[error\] ?|npm (?:ERR!|error) ?|` +
  String.raw`\[\w{4,8}\] {1,4}|[\w.-]{1,40}: (?:error|fatal): ?|error:? ?|ERROR:? ?|Error: ?|fatal: ?)?`;
const COUNT = String.raw`(?:\d{1,7}|[Aa]ll|[Ss]ome|one|an?)`;
const THINGS =
  '(?:tests?|specs?|examples?|suites?|test files?|test ' +
  'suites?|assertions?|checks?|scenarios?|steps?|problems?|errors?|failures?|issues?|warnings?|violations?|findings?|offenses?|links?|duplicates?|matches|differences|conflicts?|secrets?|vulnerabilities|errors ' +
  'in|jobs?|tasks?|targets?|packages?|files?|hooks?|commands?|resources?|documents?)';

/** Builds a pattern for a sentence after up to 12 signs and an optional marker of a runner. */
function tagPattern(words: TemplateStringsArray, ...parts: readonly string[]): RegExp {
  return new RegExp(String.raw`^\W{0,12}${MARK}${String.raw(words, ...parts)}`, 'i');
}

/** Builds a pattern for a sentence after up to 6 signs and an optional marker of a runner. */
function boxPattern(words: TemplateStringsArray, ...parts: readonly string[]): RegExp {
  return new RegExp(String.raw`^\W{0,6}${MARK}${String.raw(words, ...parts)}`, 'i');
}

/** Lines that say how something ended, without saying why. */
const ENDING: readonly RegExp[] = [
  tagPattern`(?:(?:the )?(?:process|command|script|program|task|job|step|container|shell|bash|sh|pwsh|powershell|cmd\.exe|action|lifecycle script|recipe|target)\b.{0,300}?)?\b(?:completed with|exited with|exited|failed with|returned|finished with|terminated with|exit|ended with|died with|returned non-zero)(?: an?)?(?: non-?zero)?(?: code)?(?: exit)?[ -]?(?:code|status)?:?\s{0,2}[('"]?-?(?:0x)?[\da-f]{1,10}['")]?\W{0,8}$`,
  tagPattern`(?:exit (?:code|status)|errno|code|status|rc|signal)[:= ]{1,3}(?:-?\d{1,10}|ELIFECYCLE)\W{0,4}$`,
  // A signal is the reason why a command of make ended, so it is excluded.
  new RegExp(
    String.raw`^(?:g?make|ninja)(?:\[\d{1,3}\])?: (?:\*\*\* (?:\[(?![^\]\n]{1,300}\] ` +
      '(?:Segmentation fault|Abort|Bus error|Floating point exc|Illegal inst|Killed))|' +
      'Waiting)|Leaving|Entering|Target)|^ninja: (?:build stopped|' +
      String.raw`error: rebuilding)|^FAILED: \S{1,300}\s?$`,
  ),
  tagPattern`(?:\[?(?:build|tests?|compilation|test run|job|run|pipeline|the build|lint|linting|check|checks|deploy(?:ment)?|installation|type ?check(?:ing)?)\]?) ?:? ?(?:has |was |is |did )?(?:FAIL(?:ED|URE|S|ING)?|not succeed(?:ed)?|unsuccessful|aborted|broken|errored)(?: with an exception| with \d{1,6} \w{1,20}| in [\d.hms :µ]{1,20}| after .{1,30})?\W{0,20}$`,
  tagPattern`(?:found|there (?:are|were|is|was)|detected|totall?:?|summary:?|result:?|generated)? ?\W{0,3}${COUNT} (?:of|\/|out of)? ?(?:the )?(?:\d{1,7} )?(?:\w{1,20} ){0,2}?${THINGS}\b(?: (?:(?:have |has |had |did )?(?:failed|errored|found|generated|detected|reported|fail|passed|skipped|total|broken|not pass|emitted|completed|executed|run|in(?! .{0,60}contain))\b).{0,160}|\W{0,12}|[,;]? ?[(;,] ?.{0,160}|\. .{0,160}| were .{0,120})$`,
  new RegExp(
    String.raw`^\W{0,12}(?:Tests?|Test Files?|Test Suites?|Suites?|Snapshots?|Specs?|Assertions|Ran|` +
      'Time|Duration|Start at|Total|Summary|Failed|Failures|Errors|Passed|Skipped|' +
      String.raw`Results?)\b ?(?:run)?[ :=]{1,6}\W{0,6}(?:\d|$|ok|FAILED|failed)`,
  ),
  new RegExp(
    String.raw`^[^\w#]{0,40}(?:(?:FAILED|ERRORS?|FAILURES?) ?\((?:failures|errors|\d)|` +
      String.raw`\d{1,6} (?:failed|passed|passing|failing|pending|errors?|failures?|` +
      String.raw`skipped|errored|xfailed|deselected)\b.{0,200}$)`,
    'i',
  ),
  new RegExp(
    String.raw`\bmarked build as failure\b|^Stage "[^"\n]{1,200}" skipped due to |` +
      String.raw`^Finished: |^Job (?:failed|succeeded)|^(?:The )?(?:build|` +
      String.raw`job|step|operation) (?:has been |was )?cancell?ed\W*$`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:due to|because of|after|with) (?:\d{1,5} |one |the |an? )?(?:previous|prior|above|` +
      String.raw`earlier)? ?(?:\d{1,5} )?(?:errors?|failures?)\b(?:; \d{1,5} warnings? emitted)?\W{0,4}$`,
    'i',
  ),
  new RegExp(
    String.raw`^(?:ELIFECYCLE|\S{0,4}ERR_PNPM_RECURSIVE_\w{1,30}|npm (?:ERR!|error) (?:Lifecycle script|` +
      String.raw`code (?:ELIFECYCLE|\d)|errno|A complete log|workspace |location |path |command |` +
      String.raw`Test failed|in workspace|at location|[A-Z]:|/)|\W{0,3}ELIFECYCLE)`,
  ),
  new RegExp(
    String.raw`^(?:error Command failed|info Visit|Failed in [\d.]|Stopped|Failed to compile\W*$|` +
      String.raw`Aborting|Exiting\b|\w{1,40} (?:was|is) aborted|Terminated\W*$|Killed by signal)`,
    'i',
  ),
  new RegExp(
    String.raw`^(?:\[\w{4,8}\] )?\W{0,12}(?:To see|See the|Re-run|Rerun|Run with|For more|Get more help|` +
      'Try:|Consider|Please (?:see|check|read|open|report)|You (?:can|may)|Use (?:the )?-|' +
      String.raw`\[Help|-> \[|Searched in|Hint:|Read more|Learn more|View (?:the|full)|Full (?:log|` +
      'report)|A full|Logs? (?:can|were|saved|at)|Report (?:was|saved|at)|Visit|If (?:this|you)|' +
      'Set .{1,40} to (?:see|show|display)|note: run with|note: to see|note: use)',
    'i',
  ),
  /^(?:##\[error\]|Error: )?(?:Final attempt failed|Attempt \d{1,3} failed|Timeout of \d{1,9}ms hit)/,
  // An address alone refers to another place.
  /^\W{0,12}https?:\/\/\S{1,400}\s{0,4}$/,
];

/** Lines that introduce another message or repeat that it exists. */
const WRAPPER: readonly RegExp[] = [
  new RegExp(
    String.raw`^Traceback \(most recent call last\)|^(?:The above exception was|` +
      String.raw`During handling of the above)|^\W{0,6}Traceback\b.{0,40}$`,
  ),
  new RegExp(
    'CalledProcessError|subprocess-exited-with-error|metadata-generation-failed|' +
      'originates from a subprocess|did not run successfully|InvocationError',
  ),
  new RegExp(
    String.raw`^(?:\[\w{4,8}\] )?\W{0,12}(?:\* )?(?:What went wrong|Try|Where|Exception is|` +
      'Execution failed for task|A problem occurred|' +
      'A failure occurred while executing|FAILURE: )',
  ),
  boxPattern`(?:The )?(?:command|process|script|task|target|recipe|action|hook|step) .{1,300} (?:failed|exited|returned)\b.{0,60}$`,
  boxPattern`(?:Command|Process|Script) (?:failed|exited)\b.{0,60}:?.{0,120}$`,
  new RegExp(
    String.raw`^Unhandled(?:PromiseRejection| exception| rejection)\W*$|^Uncaught (?:exception|` +
      String.raw`error)\W*$|^node:internal/|^Node\.js v[\d.]{1,20}\s{0,4}$`,
  ),
  new RegExp(
    String.raw`^\W{0,12}(?:exception|error|compilation error|failure|errors|failures|failed|details|reason|` +
      'error reference|end of output|output|stderr|stdout|message|diagnostics|stack(?: trace)?|' +
      'failed tests?|' +
      String.raw`summary of (?:all )?failing tests)\W{0,12}$`,
    'i',
  ),
  // The head of a table
  /^\s{0,8}[A-Z%#][\w%#]{0,20}(?:\s{2,80}[A-Z%#][\w%#]{0,20}){2,10}\s{0,8}$/,
  new RegExp(
    String.raw`^\W{0,6}(?:={2,40}|-{2,40}|_{2,40}) ?(?:FAILURES|ERRORS|short test summary info|` +
      String.raw`warnings summary|Captured .{1,40}|BUILD FAILURE)\b.{0,60}$`,
  ),
];

/** Commands and settings as CI systems print them before they run. */
const ECHO: readonly RegExp[] = [
  new RegExp(
    String.raw`^(?:##\[(?:endgroup|command|section)\]|(?:##\[group\]|::group::)(?!❌)|::(?:endgroup|` +
      String.raw`add-mask|set-output|save-state|stop-commands|debug)\b|\[command\])`,
  ),
  /^\+{1,4} \S|^(?:[\w.@:~/-]{1,80})?\$ \S|^> \S{1,120}@\S{1,40} \S|^> \S{1,200}$|^PS .{0,120}> \S/,
  new RegExp(
    '^(?:shell: (?:/|pwsh|bash|sh|cmd|python|[A-Z]:)|env:$|with:$)|' +
      String.raw`^#\d{1,4} (?:\[[^\]\n]{1,80}\] |(?:DONE|CACHED|sha256|transferring|exporting|` +
      String.raw`resolve|extracting)\b)|^Step \d{1,4}/\d{1,4} : `,
  ),
  new RegExp(
    String.raw`^(?:if \[|\[\[? .{1,200} \]\]?(?: &&| \|\||;|$)|echo |printf |export \w{1,60}=|` +
      'set -[a-z]{1,10}|fi$|done$|then$|exit [0-9]{1,3}$|' +
      String.raw`case .{1,80} in$|esac$|\w{1,60}\(\) \{$)`,
  ),
];

/** Tests and checks that did not fail. Words of failure in their names are no evidence. */
const PASSING: readonly RegExp[] = [
  new RegExp(
    String.raw`^\s{0,40}(?:ok \d|[✓√✔✅]|PASS(?:ED|ES|ING)?\b|--- (?:PASS|SKIP)|\[ {2,7}(?:OK|PASSED|` +
      String.raw`SKIPPED) {0,7}\]|\[ ?(?:\+|OK|PASS|SKIP|ok) ?\]|\((?:pass|skip|todo)\)|[↓○◌⏭⊘] |` +
      String.raw`(?:# )?Subtest: |[Ss]kip(?:ped|ping)?\b|SKIP(?:PED)?\b|ignored?\b)`,
  ),
  new RegExp(
    String.raw`[✓√✔] |\b(?:PASS(?:ED)?|SKIP(?:PED)?|XFAIL|XPASS|IGNORED)` +
      String.raw`\b(?:\s{0,20}\[ {0,3}\d{1,3}%\])?.{0,12}$|\.{2,60} ?(?:ok|OK|Ok|passed|Passed|PASSED|yes|` +
      String.raw`no|done|Skipped|skipped|ignored)\b.{0,16}$|[:-] (?:ok|OK|PASSED|passed|skipped|ignored)$`,
  ),
  new RegExp(
    String.raw`^\s{0,20}checking (?:for|whether|if|how)\b|^(?:Has header|Header|Checking|Compiler|` +
      String.raw`Fetching|Run-time dependency|Library|Program|Dependency)\b.{0,200}(?:: (?:YES|NO)|` +
      String.raw`found: (?:YES|NO))\b|^-- (?:Looking for|Performing Test|Check(?:ing|) |` +
      String.raw`Found |Detecting|The \w{1,8} compiler)`,
  ),
  new RegExp(
    String.raw`^(?=.{0,200}\b(?:0|no|zero) (?:errors?|failures?|failed|problems?|issues?|` +
      String.raw`warnings?|vulnerabilities)\b)(?!.{0,200}\b[1-9]\d{0,5} (?:errors?|fail))|` +
      String.raw`\b(?:errors?|failures?|failed)[:=] ?0\b(?!:)`,
    'i',
  ),
];

/** Warnings and remarks, and operations that a tool retries. */
const NOTICE: readonly RegExp[] = [
  // BuildKit's checks of a Dockerfile
  /\bdocs\.docker\.com\/go\/dockerfile\/rule\//,
  /^\s{0,8}- (?:[A-Z][a-z]{1,20}){2,5}(?:JSON|Env)?: .{1,300} \(line \d{1,6}\)$/,
  // What a resolver did not consider, before it says what it did not find
  /^Ignored the following (?:yanked )?versions/,
  /^##teamcity\[(?!buildProblem|testFailed|message\b.{0,500}status='(?:ERROR|FAILURE))/,
  new RegExp(
    String.raw`^\W{0,12}(?:\d\d:\d\d:\d\d\S{0,5} {1,6})?(?:##\[(?:warning|notice|debug)\]|::(?:warning|` +
      String.raw`notice|debug)|\[?(?:warn(?:ing)?|info(?:rmation)?|debug|notice|trace|note|hint|help|` +
      String.raw`verbose|deprecat(?:ed|ion))\]?\b ?[:\])|>-]|npm (?:warn|notice|http|info|verb)|` +
      String.raw`(?:WARN|WARNING|INFO|DEBUG|NOTICE)\b|yarn (?:info|warn)|hint:)`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:WARN|WARNING|[a-z]{0,40}Warning|warning)\b ?(?:\[[\w:-]{1,60}\])?:|\bDeprecat(?:ed|` +
      String.raw`ion (?:warning|notice))|\bdeprecated\b|\bWARN(?:ING)?\b {1,6}[-:|[]`,
  ),
  new RegExp(
    String.raw`\bwill (?:retry|be retried|try again)\b|(?<!Timed out )\b[Rr]etrying\b|` +
      String.raw`\bretry(?:ing)? (?:attempt|in \d)|\battempt #?\d{1,2} ?(?:failed|of \d|/)|\(retry \d|` +
      String.raw`^Ign:\d|\bignor(?:ed|ing)\b|\bnon-fatal\b|\bfalling back\b|\bfallback\b|\bcontinuing\b|` +
      String.raw`\bcontinue anyway\b|\bnot fatal\b|\bskipping\b|\bharmless\b|` +
      String.raw`\bpackaging (?:it|them) as (?:it is|they are)\b`,
    'i',
  ),
  new RegExp(
    '^(?:Cache not found for|No (?:cache|files were found|artifacts?)|Unable to (?:reserve|' +
      'restore|save) cache|Post job cleanup|Temporarily overriding|Adding repository directory|' +
      String.raw`Cleaning up orphan|git version |\[command\]/usr/bin/git)`,
  ),
];

/** Lines about what a tool does, has done, or is about to do. */
const PROGRESS: readonly RegExp[] = [
  // Actions of Jenkins and its plugins after the build, whether or not it failed
  new RegExp(
    String.raw`^(?:\[(?:Checks API|WS-CLEANUP|htmlpublisher|JaCoCo plugin|Cobertura|GitHub Checks?)\] |` +
      '(?:No suitable checks publisher found|Archiving artifacts|Skipped archiving|' +
      'Recording (?:test results|fingerprints)|No artifacts (?:found|are configured)|' +
      'Sending e-?mails?|No emails were triggered|Notifying (?:upstream|endpoint)|' +
      String.raw`Collecting metadata|Metadata collection done)\b)`,
    'i',
  ),
  new RegExp(
    String.raw`^(?:\W{0,3}|={2,6}> |\[[^\]\n]{1,12}\] )(?:Get|Hit|Fetched|Selecting|Preparing|Unpacking|` +
      'Setting up|Processing triggers|Reading (?:package|state)|Building dependency|' +
      'Download(?:ing|ed)|Install(?:ing|ed)|Collect(?:ing|ed)|Compil(?:ing|ed)|Fetch(?:ing|ed)|' +
      'Build(?:ing|t)|Resolv(?:ing|ed)|Check(?:ing|ed|out)|Runn?(?:ing)|Starting|Started|' +
      'Creat(?:ing|ed)|Updat(?:ing|ed)|Load(?:ing|ed)|Linking|Packag(?:ing|ed)|Upload(?:ing|ed)|' +
      'Extract(?:ing|ed)|Using|Requirement already|Attempting uninstall|Successfully|Pull(?:ing|' +
      'ed)|Push(?:ing|ed)|Cloning|Receiving|Counting|Compressing|Enumerating|Restor(?:ing|ed)|' +
      'Saving|Saved|Writing|Wrote|Copying|Generat(?:ing|ed)|Scanning|Analyzing|Transforming|' +
      'Rendering|Bundling|Initializing|Configuring|Executing|Waiting|Connecting|Finished|' +
      'Completed|Done|Adding|Added|Removing|Removed|Locking|Syncing|Prepar(?:ing|ed)|Progress|' +
      'Discover(?:ing|ed)|Detect(?:ing|ed)|Verif(?:ying|ied)|Validating|Linting|Formatting|' +
      String.raw`Testing|Publishing|Deploying)\b(?!.{0,200}\s(?:error|fail(?:ed|ure|s)?|fatal|` +
      'exception|cannot|could not|unable|denied|refused|missing|invalid|' +
      String.raw`not (?:found|in)|but|expected|exceed(?:s|ed)?)\b(?![-/.]))`,
    'i',
  ),
  new RegExp(
    String.raw`^\s{0,20}(?:\[ {0,3}\d{1,3}%\]|\d{1,3}%|\[\d{1,6}/\d{1,6}\])(?!.{0,200}\b(?:error|fail|` +
      String.raw`fatal)\w{0,4}\b)|^(?:remote: )?(?:Counting|Compressing|Receiving|Resolving|Total|` +
      String.raw`Enumerating)\b.{0,60}\d|^[.FsxE*]{4,200}(?:\s{1,20}\[ {0,3}\d{1,3}%\])?$|\bkB/s\b|` +
      String.raw`\bMB/s\b|^\s{0,8}[━█▓▒░#=>. -]{8,200}\s{0,3}(?:\d.{0,60})?$`,
  ),
];

const TABLE: readonly (readonly [LineRole, readonly RegExp[]])[] = [
  ['ending', ENDING],
  ['wrapper', WRAPPER],
  ['echo', ECHO],
  ['passing', PASSING],
  ['progress', PROGRESS],
  ['notice', NOTICE],
];

/**
 * A severity of error that the tool itself prints, whatever the rest of the line says ("ERROR: skipping …").
 */
const SEVERE = new RegExp(
  String.raw`^(?!ERROR: Ignored the following )\W{0,6}(?:\S{1,200}: )?(?:##\[error\]|::error|` +
    String.raw`(?:ERROR|error|FATAL|fatal|Error)\b ?[\]:|])`,
);

/** The roles of lines that were classified before. Readers, ranking and neighbors ask for the same lines. */
const known = new Map<string, LineRole>();
const MAX_KNOWN = 20_000;

/**
 * Returns the role of a line by its text, which must be cleaned (see `LogText.line`). Whether a command was
 * only echoed may depend on its position: see {@link createRoleLookup}.
 */
export function classifyRole(line: string): LineRole {
  const text = line.length > 600 ? line.slice(0, 600) : line;
  let role = known.get(text);
  if (role === undefined) {
    role = readRole(text);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, role);
  }
  return role;
}

function readRole(text: string): LineRole {
  if (!/[\p{L}\p{N}]/u.test(text)) return 'blank';
  const role = TABLE.find(([, patterns]) => patterns.some((pattern) => pattern.test(text)))?.[0] ?? 'cause';
  return (role === 'notice' || role === 'progress') && SEVERE.test(text) ? 'cause' : role;
}

/** The warning of the runner about a command whose failure it tolerates. */
const TOLERATED = /^##\[warning\]The process '[^'\n]{1,300}' failed with exit code \d/;

/**
 * Creates a function that returns the role of each line of a log: `echo` if the CI system marks the line as
 * echoed, `passing` if the runner tolerated the failure, otherwise the role of its text.
 */
export function createRoleLookup(
  log: LogText,
  { echoes }: Pick<Structure, 'echoes'>,
): (line: number) => LineRole {
  return (line) => {
    const role = classifyRole(log.line(line));
    if (role !== 'blank' && isWithin(echoes, line)) return 'echo';
    return role === 'cause' && isTolerated(log.line(line + 1)) ? 'passing' : role;
  };
}

/** Checks whether a line says that the runner tolerates the failure above it. */
export function isTolerated(below: string): boolean {
  return TOLERATED.test(below);
}

/** Checks whether a line only says that something ended or how, without saying why. */
export function isUninformative(line: string): boolean {
  const role = classifyRole(line);
  return role === 'ending' || role === 'wrapper' || role === 'blank';
}

/** Text that only refers to another place. */
const POINTS_ELSEWHERE =
  /\b(?:see|check|read|search|refer to|look (?:at|in))\b.{0,40}\b(?:logs?|output|above|below|details?)\b/i;
/** Text about the exit of a command, or of a program that runs or builds others. */
const RUNS_OTHERS = new RegExp(
  String.raw`\bafter \d{1,3} (?:attempts|tries|retries)$|\bexit (?:status|code)\b|returned non-zero|` +
    String.raw`\b(?:execution failed for \w|error executing command$|` +
    String.raw`failed to run \x60[\w-]{1,40}\x60 to |failed to transform \S|could not resolve all files for |a failure occurred while|command failed|` +
    String.raw`test failed, to rerun|failed to run custom build command|could not compile \S|` +
    String.raw`error running script|did not complete successfully|skipped due to earlier failure|` +
    String.raw`failed in branch|linker command failed|` +
    String.raw`(?:build|compil\w{1,5}|transform|lint\w{0,3}) failed(?: with \d{1,6} errors?)?$)`,
  'i',
);

/** Checks whether a text only says that something else ended or failed. */
export function isWrapper(words: string): boolean {
  return isUninformative(words) || [POINTS_ELSEWHERE, RUNS_OTHERS].some((pattern) => pattern.test(words));
}
