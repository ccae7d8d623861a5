import { findBlockEnd, findLineAbove } from '../../lines/lines.ts';
import type { Extractor } from '../extraction.ts';
import { INDENTED, type Tool } from './diagnostics.ts';

/** The output of an action below Bazel's own line, up to Bazel's next message. */
const printedByBazel = /^(?!ERROR|INFO|WARNING|Target|FAILED|Build|\[\d|\(\d\d:)/;
const printedByNinja = /^(?!\[\d{1,6}\/\d{1,6}\]|ninja: |FAILED: |$)/;
const mavenSays = new RegExp(
  String.raw`^\[ERROR\] (?!Failed to execute|To see|Re-run|For more|After correcting|` +
    String.raw`-> \[|\[Help)\S|^(?:Could not|This could|If you are)`,
);

/** Build tools and configuration tools: CMake, configure, ninja, make, Bazel, Maven, Gradle, sbt and Ivy. */
// biome-ignore format: one row for each shape
export const BUILDERS: readonly Tool[] = [
  { tool: 'cmake', literals: ['cmake error'],
    says: [{ pattern: new RegExp(
      String.raw`^CMake Error(?: at (?<file>[^\s:]{1,300}):(?<line>\d{1,7})` +
      String.raw` \([\w-]{1,80}\))?:?(?<message>.{0,400})`,
    ), weight: 80, belongs: /^\s{2,200}\S|^Call Stack|^$/, messageBelow: /^\s{2,8}(?<said>\S.{0,400})$/ }] },
  { tool: 'configure', literals: ['configure: error', 'makefile.am:', 'autoreconf: error', 'automake: error',
    'aclocal: error', 'autoconf: error'], says: [
    { pattern: /^(?:\S{0,100}\/)?configure: error: in [`'].{1,200}':(?<message>)$/, weight: 80,
      belongs: /^(?:\S{0,100}\/)?configure: error|^See\b/,
      messageBelow: /^(?:\S{0,100}\/)?configure: error: (?<said>.{1,400})/ },
    { pattern: /^(?:\S{0,100}\/)?configure: error: (?<message>.{1,400})/, weight: 80,
      belongs: /^(?:See|Try)\b|^\s{2,20}\S|^(?:\S{0,100}\/)?configure: error/ },
    { pattern: new RegExp(
        String.raw`^(?<file>(?:\S{0,200}/)?Makefile\.am):(?<line>\d{1,7})` +
        ': required file: (?<message>.{1,400})',
      ), weight: 78, belongs: INDENTED },
    { pattern: /^(?:autoreconf|automake|aclocal|autoconf)(?:-[\d.]{1,8})?: error: (?<message>.{1,400})/,
      weight: 66 },
  ] },
  { tool: 'ninja', literals: ['ninja: error', 'failed: '], says: [
    { pattern: /^ninja: error: (?<message>.{1,400})/, weight: 74 },
    { pattern: new RegExp(
        String.raw`^FAILED: (?<message>(?:\[code=\d{1,3}\] )?[^\s:]{1,300})` +
        String.raw`(?:\s{1,2}[^\s:]{1,300}(?: [^\s:]{1,300}){0,3})?\s{0,2}$`,
      ), weight: 58, pointer: true, belongs: printedByNinja },
  ] },
  { tool: 'bazel', literals: ['error: no such', 'error: analysis of', 'error: error ', 'error: skipping',
    'error: an error occurred during', 'no such target', 'error: /'], says: [
    { pattern: new RegExp(
        String.raw`^ERROR: (?<file>/[^\s:]{1,300}/(?:BUILD|WORKSPACE|MODULE)(?:\.bazel)?|` +
        String.raw`/[^\s:]{1,300}\.bzl):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<message>.{1,500})`,
      ), weight: 76, belongs: printedByBazel },
    { pattern: new RegExp(
        "^ERROR: (?:Skipping '.{1,200}': )?(?<message>(?:no such (?:package|target)|" +
        'Error computing the main repository|An error occurred during the fetch|' +
        'error loading package).{0,400})',
      ), weight: 78, belongs: /^\s{1,20}\S|^- \// },
    { pattern: /^ERROR: (?<message>Analysis of target .{1,300})/, weight: 56, pointer: true },
  ] },
  { tool: 'make', literals: ['*** ', 'make: '], says: [
    { pattern: /^(?:g|mingw32-)?make(?:\[\d{1,2}\])?: \*\*\* (?<message>No rule to make target .{1,400})/,
      weight: 78 },
    { pattern: /^(?<file>[\w./-]{1,200}):(?<line>\d{1,6}): \*\*\* (?<message>.{1,300})/, weight: 76 },
    { pattern: new RegExp(
        String.raw`^(?:g|mingw32-)?make(?:\[\d{1,2}\])?: \*\*\* \[(?:(?<file>[^\s:]{1,200})` +
        String.raw`:(?<line>\d{1,6}): )?(?<message>.{1,300})`,
      ), weight: 45, severity: 'error', pointer: true },
    { pattern: new RegExp(
        String.raw`^(?:g|mingw32-)?make(?:\[\d{1,2}\])?: (?<message>\S{1,200}: (?:Command not found|` +
        'No such file or directory|Permission denied).{0,40})',
      ), weight: 80, isMessage: true },
  ] },
  { tool: 'mvn', literals: ['failed to execute goal', 'could not find artifact',
    'could not transfer artifact', 'could not resolve dependencies', 'non-resolvable', 'failed with message',
    'unknown lifecycle phase', 'no goals have been specified', 'the selected project in the reactor',
    'no plugin found for prefix', 'non-parseable pom', 'malformed pom', 'is missing. @ line'], says: [
    { pattern: new RegExp(
        String.raw`^\[ERROR\] Failed to execute goal (?<message>\S{1,200} .{0,200}: (?:Compilation failure|` +
        'There (?:are|were) test (?:failures|errors)|Test failure|There was a timeout).{0,200})',
      ), weight: 50, pointer: true },
    { pattern: new RegExp(
        String.raw`^\[(?:ERROR|FATAL)\] (?:Failed to execute goal .{1,200}: )?` +
        '(?<message>(?:Could not resolve dependencies for project|' +
        String.raw`Plugin \S{1,200} or one of its dependencies could not be resolved|` +
        String.raw`Non-resolvable \w{1,20} POM|No plugin found for prefix).{0,600})`,
      ), weight: 79, belongs: mavenSays },
    { pattern: /^(?:\[(?:ERROR|FATAL)\] )?(?<message>Could not (?:find artifact|transfer artifact).{1,400})/,
      weight: 74, belongs: mavenSays },
    { pattern: /^\[ERROR\] (?<message>Rule \d{1,3}: \S{1,200} failed with message:.{0,300})/, weight: 79,
      belongs: /^(?!\[(?:INFO|WARNING)\]|\[ERROR\] (?:Rule|->|To see))\S/,
      messageBelow: /^(?:\[ERROR\] )?(?<said>(?!\[)\S.{0,400})/ },
    { pattern: new RegExp(
        String.raw`^\[(?:ERROR|FATAL)\] (?<message>(?:Unknown lifecycle phase|No goals have been specified|` +
        'Could not find the selected project|Non-parseable POM|Malformed POM|' +
        String.raw`'[\w.]{1,80}' .{0,80} is missing).{0,300}?)(?: @ .{0,8}line (?<line>\d{1,7})` +
        String.raw`, column (?<column>\d{1,5}).{0,40})?$`,
      ), weight: 79 },
    { pattern: /^\[ERROR\] Failed to execute goal (?<message>\S{1,200} .{0,400})/, weight: 66,
      belongs: mavenSays, isMessage: true },
  ] },
  { tool: 'sbt', literals: ['unresolved dependenc', 'resolveexception', 'error downloading ',
    '[error] not found: ', ': not found'], says: [
    { pattern: new RegExp(
        String.raw`^(?:\[error\] |\[ivy:\w{1,20}\]\s{0,8})?(?:\(.{1,80}\) )?\s{0,8}` +
        String.raw`(?:[\w.]{1,80}ResolveException: )?(?<message>(?:unresolved dependency: |` +
        'Error downloading |:: {1,2}UNRESOLVED DEPENDENCIES).{1,300})',
        'i',
      ), weight: 79,
      belongs: /^(?:\[error\] |\[ivy:\w{1,20}\]\s{0,8})(?:\s{1,20}|:: |not found|download error|\s{0,8}::)/ },
    { pattern: /^\[ivy:\w{1,20}\]\s{1,8}:: (?<message>[\w.-]{1,100}#[\w.-]{1,100};\S{1,80}: not found)/,
      weight: 78 },
  ] },
  { tool: 'gradle', literals: ['could not resolve ', 'could not find ',
    'was not found in any of the following sources', 'could not get ', "build file '", "settings file '",
    'cannot choose between the following', 'no matching variant'], says: [
    { pattern: new RegExp(
        String.raw`^\s{0,12}> (?<message>(?:Could not find [\w.-]{1,120}:[\w.-]{1,120}:[\w.+-]{1,60}|` +
        String.raw`Could not (?:GET|HEAD) '.{1,300}'|Could not resolve [\w.-]{1,120}:[\w.-]{1,120}` +
        String.raw`:[\w.+-]{1,60}|No matching variant of |Cannot choose between the following).{0,300})`,
      ), weight: 77, belongs: /^\s{2,20}(?:> |- |Searched|Required by|project :|\S)/ },
    { pattern: new RegExp(
        String.raw`^(?<message>Plugin \[id: '.{1,120}'.{0,80}\] was not found in ` +
        'any of the following sources.{0,40})',
      ), weight: 79, belongs: /^- / },
    { pattern: /^(?:Build|Settings) file '(?<file>[^']{1,300})' line: (?<line>\d{1,6})(?<message>)$/,
      weight: 60, pointer: true },
  ] },
];

/** Containers, clusters, clouds, and tools that transfer files. */
// biome-ignore format: one row for each shape
export const DELIVERY: readonly Tool[] = [
  { tool: 'docker', literals: ['failed to solve', 'returned a non-zero code', 'error response from daemon',
    'cannot connect to the docker', 'dockerfile:', ' error: process "', ' > [', 'dockerfile parse error'],
    says: [
    { pattern: new RegExp(
        '(?<message>(?:ERROR: )?failed to solve: .{1,400}|' +
        String.raw`The command '.{1,300}' returned a non-zero code: \d{1,3}|` +
        'Error response from daemon: .{1,300}|Cannot connect to the Docker daemon.{0,200})',
      ), weight: 70 },
    { pattern: /^#\d{1,4} ERROR: (?<message>process ".{1,300}" did not complete.{0,100})/, weight: 60,
      pointer: true },
    { pattern: /^ ?> \[(?<message>[^\]]{1,120}\].{0,300})$/, weight: 76, pointer: true,
      belongs: /^(?!-{4,}$)/ },
    { pattern: /^(?<file>\S{0,200}Dockerfile\S{0,40}):(?<line>\d{1,5})(?<message>)$/, weight: 66,
      belongs: /^-{5,}|^\s{1,8}\d{0,5} \|/, messageBelow: /^\s{1,8}\d{1,5} \| >>> (?<said>\S.{0,300})/ },
    { pattern: /^(?:Error response from daemon: )?(?<message>dockerfile parse error.{1,300})/i, weight: 78 },
  ] },
  { tool: 'compose', literals: ['dependency failed to start', 'refers to undefined', 'compose.y'], says: [
    { pattern: new RegExp(
        '^(?<message>dependency failed to start: .{1,200}|' +
        'service ".{1,80}" refers to undefined .{1,200})',
      ), weight: 78 },
    { pattern: /^(?:validating |ERROR: )?(?<file>\S{0,200}compose\.ya?ml): (?<message>.{1,300})/,
      weight: 76 },
  ] },
  { tool: 'helm', literals: ['installation failed', 'upgrade failed', 'rollback failed', 'error: template:',
    'yaml parse error on', 'error: chart '], says: [
    { pattern: new RegExp(
        '^Error: (?:(?:INSTALLATION|UPGRADE|ROLLBACK) FAILED: )?' +
        String.raw`(?<message>(?:template: (?<file>[^\s:]{1,200}):(?<line>\d{1,6})(?::(?<column>\d{1,5}))?` +
        ': |YAML parse error on |chart ).{1,300})',
      ), weight: 80 },
    { pattern: /^Error: (?<message>(?:INSTALLATION|UPGRADE|ROLLBACK) FAILED: .{1,400})/, weight: 80,
      isMessage: true },
  ] },
  { tool: 'kubectl', literals: ['error from server', 'error validating', 'error parsing',
    'exceeded its progress deadline', 'timed out waiting for the condition', 'imagepullbackoff',
    'crashloopbackoff', 'errimagepull', 'the connection to the server', 'unable to recognize',
    'no matches for kind'], says: [
    { pattern: new RegExp(
        '^(?:error: |Error: )?(?<message>(?:error validating|unable to recognize|' +
        'no matches for kind|error parsing) .{1,300})',
      ), weight: 80 },
    { pattern: new RegExp(
        String.raw`^(?<message>Error from server(?: \(\w{1,40}\))?: .{1,400}|` +
        String.raw`The connection to the server \S{1,200} was refused.{0,100})`,
      ), weight: 80, isMessage: true },
    { pattern: new RegExp(
        '^error: (?<message>.{0,200}(?:exceeded its progress deadline|' +
        'timed out waiting for the condition).{0,100})',
      ), weight: 78, isMessage: true },
    { pattern: /^(?<message>.{0,200}\b(?:ImagePullBackOff|CrashLoopBackOff|ErrImagePull)\b.{0,100})/,
      weight: 64, isMessage: true },
  ] },
  { tool: 'terraform', literals: ['.tf line ', 'error: '], says: [
    { pattern: /^[│|] {1,2}Error: (?<message>.{1,300})/, weight: 79, belongs: /^(?![│|] {1,2}Error: )[│|]/,
      placeBelow: /^[│|]\s{1,8}on (?<file>\S{1,200}\.tf(?:\.json|vars)?) line (?<line>\d{1,6})(?<column>)/ },
    { pattern: new RegExp(
        '^Error: (?<message>(?:Unsupported|Missing|Invalid|Reference to undeclared|' +
        'Failed to query|Duplicate|Inconsistent|Incorrect|Backend|Unreadable|Argument|' +
        'Error (?:acquiring|creating|refreshing)).{1,300})$',
      ), weight: 77, belongs: /^[│╵|]|^\s{1,20}\S|^$/, ran: /\b(?:terraform|terragrunt|tofu)\b|\.tf\b/i,
      placeBelow: /^\s{2,8}on (?<file>\S{1,200}\.tf(?:\.json|vars)?) line (?<line>\d{1,6})(?<column>)/ },
  ] },
  { tool: 'aws', literals: ['an error occurred ('],
    says: [{ pattern: new RegExp(
      String.raw`^(?:\S{1,100}: )?(?<message>An error occurred \((?<code>\w{1,80})` +
      String.raw`\) when calling the \w{1,80} operation.{0,300})`,
    ), weight: 80, isMessage: true }] },
  { tool: 'gcloud', literals: ['error: (gcloud', 'error: ('],
    says: [{ pattern: /^ERROR: (?<message>\((?:gcloud|\w{3,60})[\w.-]{0,100}\) .{1,400})/, weight: 79,
      isMessage: true }] },
  { tool: 'serverless', literals: ['serverless error'],
    says: [{ pattern: /^\s{0,4}Serverless Error -{3,100}(?<message>)$/, weight: 76,
      belongs: /^\s{0,2000}$|^\s{2,8}\S/, messageBelow: /^\s{1,8}(?<said>\S.{0,400})/, isMessage: true }] },
  { tool: 'cloudformation', literals: ['create_failed', 'update_failed', 'delete_failed'],
    says: [{ pattern: /^(?<message>.{0,200}\b(?:CREATE|UPDATE|DELETE)_FAILED\b.{0,300})/, weight: 72,
      isMessage: true }] },
  { tool: 'git', literals: ['merge conflict in', '! [rejected]', '! [remote rejected]',
    'failed to push some refs', 'did not match any file', 'could not apply', 'gh00',
    'would be overwritten by', 'not a git repository', 'could not read username',
    'authentication failed for', 'smudge filter'], says: [
    { pattern: /^(?<message>CONFLICT \(.{1,40}\): .{1,300})/, weight: 80, isMessage: true },
    { pattern: /^\s{0,4}(?<message>! \[(?:remote )?rejected\] .{1,300})/, weight: 80,
      belongs: /^(?:error|hint): /, isMessage: true },
    { pattern: new RegExp(
        '^(?:error|fatal|remote): (?<message>.{0,20}(?:failed to push some refs|' +
        "pathspec '.{1,200}' did not match|could not apply|" +
        'Your local changes .{1,80} would be overwritten|not a git repository|' +
        String.raw`could not read Username|Authentication failed for|external filter|GH0\d\d: ).{0,300})`,
      ), weight: 80, isMessage: true },
  ] },
  { tool: 'ssh', literals: ['ssh: connect', 'kex_exchange', 'host key verification', 'permission denied (',
    'lost connection'],
    says: [{ pattern: new RegExp(
      '^(?<message>ssh: connect to host .{1,200}|kex_exchange_identification: .{1,200}|' +
      String.raw`Host key verification failed.{0,20}|(?:\S{1,100}: )?Permission denied \([\w,-]{1,80}\)\.?|` +
      'lost connection)$',
    ), weight: 80, isMessage: true }] },
  { tool: 'curl', literals: ['curl: ('],
    says: [{ pattern: /^(?<message>curl: \(\d{1,3}\) .{1,300})/, weight: 79, isMessage: true }] },
  { tool: 'wget', literals: ['wget: ', 'error 404', 'error 403', 'error 50'],
    says: [{ pattern: new RegExp(
      String.raw`^(?<message>wget: .{1,200}|(?:\d{4}-\d\d-\d\d )?(?:\d\d:\d\d:\d\d )?` +
      String.raw`ERROR (?:4|5)\d\d: .{1,100})`,
    ), weight: 78, isMessage: true }] },
];

const FAILED = new RegExp(
  String.raw`^(?:fatal|failed): \[(?<host>[^\]]{1,120})\](?: \(item=.{0,300}?\))?` +
    ': (?<how>FAILED|UNREACHABLE)! => (?<result>.{0,1900})',
);
const FAILED_ITEM = /^failed: \[(?<host>[^\]]{1,120})\] \(item=.{0,300}?\) => (?<result>.{0,1900})/;
const MAX_TASKS = 100;

/** Ansible: the task, the host, and the message in the result. Failures that a play ignores weigh little. */
export const ansible: Extractor = {
  name: 'ansible',
  literals: ['fatal: [', 'failed: [', 'error! ', '[error]: '],
  extract: (log, lines, found) => {
    for (const line of lines.slice(0, MAX_TASKS)) {
      const text = log.line(line);
      const groups = (FAILED.exec(text) ?? FAILED_ITEM.exec(text))?.groups;
      const error = /^(?:ERROR! |\[ERROR\]: )(?<said>.{1,400})/.exec(text)?.groups?.said;
      if (groups === undefined && error === undefined) continue;
      const end = findBlockEnd(log, line, 12, (next) => /^\s{1,20}\S|^\}|^The error appears/.test(next));
      const isIgnored = /^\.{3}ignoring/.test(log.line(end + 1));
      const message = error ?? extractMessage(groups?.result ?? '') ?? text;
      const severity = isIgnored ? 'warning' : 'error';
      const place = { file: null, line: null, column: null, code: null };
      found.finding({ tool: 'ansible', severity, ...place, message, start: line, end, weight: 80 });
      const task = isIgnored
        ? null
        : findLineAbove(log, line - 1, 59, (above) => /^(?:TASK|RUNNING HANDLER) \[/.test(above));
      if (task !== null) found.block(task, task, 70, 'ansible task');
    }
  },
};

/** Returns the first line of the message in a result, which is JSON and may be truncated. */
function extractMessage(result: string): string | null {
  const message = /"(?:msg|stderr)": "((?:[^"\\]|\\.){1,480})/.exec(result)?.[1];
  return message?.split('\\n')[0]?.replace(/\\"/g, '"') ?? null;
}
