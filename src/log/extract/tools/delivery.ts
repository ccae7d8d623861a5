import type { LogText } from '../../lines/lines.ts';
import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import type { Tool } from './diagnostics.ts';
import { addFinding } from './findings.ts';

/** Containers, clusters, clouds, and what moves files between machines. */
// biome-ignore format: one line for each shape
export const DELIVERY: readonly Tool[] = [
  {
    tool: 'docker',
    literals: ['failed to solve', 'returned a non-zero code', 'error response from daemon', 'cannot connect to the docker', 'dockerfile:', ' error: process "', ' > [', 'dockerfile parse error'],
    says: [
      { pattern: /(?<message>(?:ERROR: )?failed to solve: .{1,400}|The command '.{1,300}' returned a non-zero code: \d{1,3}|Error response from daemon: .{1,300}|Cannot connect to the Docker daemon.{0,200})/, weight: 70 },
      { pattern: /^#\d{1,4} ERROR: (?<message>process ".{1,300}" did not complete.{0,100})/, weight: 60, pointer: true },
      { pattern: /^ ?> \[(?<message>[^\]]{1,120}\].{0,300})$/, weight: 76, pointer: true, belongs: (line) => !/^-{4,}$/.test(line) },
      { pattern: /^(?<file>\S{0,200}Dockerfile\S{0,40}):(?<line>\d{1,5})(?<message>)$/, weight: 66, belongs: (line) => /^-{5,}|^\s{1,8}\d{0,5} \|/.test(line), messageBelow: (line) => /^\s{1,8}\d{1,5} \| >>> (?<said>\S.{0,300})/.exec(line)?.groups?.said ?? null },
      { pattern: /^(?:Error response from daemon: )?(?<message>dockerfile parse error.{1,300})/i, weight: 78 },
    ],
  },
  {
    tool: 'compose',
    literals: ['dependency failed to start', 'refers to undefined', 'compose.y'],
    says: [
      { pattern: /^(?<message>dependency failed to start: .{1,200}|service ".{1,80}" refers to undefined .{1,200})/, weight: 78 },
      { pattern: /^(?:validating |ERROR: )?(?<file>\S{0,200}compose\.ya?ml): (?<message>.{1,300})/, weight: 76 },
    ],
  },
  {
    tool: 'helm',
    literals: ['installation failed', 'upgrade failed', 'rollback failed', 'error: template:', 'yaml parse error on', 'error: chart '],
    says: [
      { pattern: /^Error: (?:(?:INSTALLATION|UPGRADE|ROLLBACK) FAILED: )?(?<message>(?:template: (?<file>[^\s:]{1,200}):(?<line>\d{1,6})(?::(?<column>\d{1,5}))?: |YAML parse error on |chart ).{1,300})/, weight: 80 },
      { pattern: /^Error: (?<message>(?:INSTALLATION|UPGRADE|ROLLBACK) FAILED: .{1,400})/, weight: 80, isMessage: true },
    ],
  },
  {
    tool: 'kubectl',
    literals: ['error from server', 'error validating', 'error parsing', 'exceeded its progress deadline', 'timed out waiting for the condition', 'imagepullbackoff', 'crashloopbackoff', 'errimagepull', 'the connection to the server', 'unable to recognize', 'no matches for kind'],
    says: [
      { pattern: /^(?:error: |Error: )?(?<message>(?:error validating|unable to recognize|no matches for kind|error parsing) .{1,300})/, weight: 80 },
      { pattern: /^(?<message>Error from server(?: \(\w{1,40}\))?: .{1,400}|The connection to the server \S{1,200} was refused.{0,100})/, weight: 80, isMessage: true },
      { pattern: /^error: (?<message>.{0,200}(?:exceeded its progress deadline|timed out waiting for the condition).{0,100})/, weight: 78, isMessage: true },
      { pattern: /^(?<message>.{0,200}\b(?:ImagePullBackOff|CrashLoopBackOff|ErrImagePull)\b.{0,100})/, weight: 64, isMessage: true },
    ],
  },
  {
    tool: 'terraform',
    literals: ['.tf line ', 'error: '],
    says: [
      { pattern: /^[│|] {1,2}Error: (?<message>.{1,300})/, weight: 79, belongs: (line) => /^[│|]/.test(line) && !/^[│|] {1,2}Error: /.test(line), placeBelow: /^[│|]\s{1,8}on (?<file>\S{1,200}\.tf(?:\.json|vars)?) line (?<line>\d{1,6})(?<column>)/ },
      { pattern: /^Error: (?<message>(?:Unsupported|Missing|Invalid|Reference to undeclared|Failed to query|Duplicate|Inconsistent|Incorrect|Backend|Unreadable|Argument|Error (?:acquiring|creating|refreshing)).{1,300})$/, weight: 77, belongs: (line) => /^[│╵|]|^\s{1,20}\S|^$/.test(line), placeBelow: /^\s{2,8}on (?<file>\S{1,200}\.tf(?:\.json|vars)?) line (?<line>\d{1,6})(?<column>)/ },
    ],
  },
  { tool: 'aws', literals: ['an error occurred ('], says: [{ pattern: /^(?:\S{1,100}: )?(?<message>An error occurred \((?<code>\w{1,80})\) when calling the \w{1,80} operation.{0,300})/, weight: 80, isMessage: true }] },
  { tool: 'gcloud', literals: ['error: (gcloud', 'error: ('], says: [{ pattern: /^ERROR: (?<message>\((?:gcloud|\w{3,60})[\w.-]{0,100}\) .{1,400})/, weight: 79, isMessage: true }] },
  { tool: 'serverless', literals: ['serverless error'], says: [{ pattern: /^\s{0,4}Serverless Error -{3,100}(?<message>)$/, weight: 76, belongs: (line) => line.trim() === '' || /^\s{2,8}\S/.test(line), messageBelow: (line) => /^\s{1,8}(?<said>\S.{0,400})/.exec(line)?.groups?.said ?? null, isMessage: true }] },
  { tool: 'cloudformation', literals: ['create_failed', 'update_failed', 'delete_failed'], says: [{ pattern: /^(?<message>.{0,200}\b(?:CREATE|UPDATE|DELETE)_FAILED\b.{0,300})/, weight: 72, isMessage: true }] },
  {
    tool: 'git',
    literals: ['merge conflict in', '! [rejected]', '! [remote rejected]', 'failed to push some refs', 'did not match any file', 'could not apply', 'gh00', 'would be overwritten by', 'not a git repository', 'could not read username', 'authentication failed for', 'smudge filter'],
    says: [
      { pattern: /^(?<message>CONFLICT \(.{1,40}\): .{1,300})/, weight: 80, isMessage: true },
      { pattern: /^\s{0,4}(?<message>! \[(?:remote )?rejected\] .{1,300})/, weight: 80, belongs: (line) => /^(?:error|hint): /.test(line), isMessage: true },
      { pattern: /^(?:error|fatal|remote): (?<message>.{0,20}(?:failed to push some refs|pathspec '.{1,200}' did not match|could not apply|Your local changes .{1,80} would be overwritten|not a git repository|could not read Username|Authentication failed for|external filter|GH0\d\d: ).{0,300})/, weight: 80, isMessage: true },
    ],
  },
  { tool: 'ssh', literals: ['ssh: connect', 'kex_exchange', 'host key verification', 'permission denied (', 'lost connection'], says: [{ pattern: /^(?<message>ssh: connect to host .{1,200}|kex_exchange_identification: .{1,200}|Host key verification failed.{0,20}|(?:\S{1,100}: )?Permission denied \([\w,-]{1,80}\)\.?|lost connection)$/, weight: 80, isMessage: true }] },
  { tool: 'curl', literals: ['curl: ('], says: [{ pattern: /^(?<message>curl: \(\d{1,3}\) .{1,300})/, weight: 79, isMessage: true }] },
  { tool: 'wget', literals: ['wget: ', 'error 404', 'error 403', 'error 50'], says: [{ pattern: /^(?<message>wget: .{1,200}|(?:\d{4}-\d\d-\d\d )?(?:\d\d:\d\d:\d\d )?ERROR (?:4|5)\d\d: .{1,100})/, weight: 78, isMessage: true }] },
];

const FAILED = /^(?:fatal|failed): \[(?<host>[^\]]{1,120})\](?: \(item=.{0,300}?\))?: (?<how>FAILED|UNREACHABLE)! => (?<result>.{0,1900})/;
const FAILED_ITEM = /^failed: \[(?<host>[^\]]{1,120})\] \(item=.{0,300}?\) => (?<result>.{0,1900})/;
const MAX_TASKS = 100;

/** Ansible: the task, the host, and the message inside the result; failures that a play ignores weigh little. */
export const ansible: Extractor = {
  name: 'ansible',
  literals: ['fatal: [', 'failed: [', 'error! ', '[error]: '],
  extract: (log, lines, found) => {
    for (const line of lines.slice(0, MAX_TASKS)) {
      const text = log.line(line);
      const groups = (FAILED.exec(text) ?? FAILED_ITEM.exec(text))?.groups;
      const own = /^(?:ERROR! |\[ERROR\]: )(?<said>.{1,400})/.exec(text)?.groups?.said;
      if (groups === undefined && own === undefined) continue;
      const end = blockEnd(log, line, 12, (one) => /^\s{1,20}\S|^\}|^The error appears|^$/.test(one) && one !== '');
      const isIgnored = /^\.{3}ignoring/.test(log.line(end + 1));
      const message = own ?? messageOf(groups?.result ?? '') ?? text;
      const severity = isIgnored ? 'warning' : 'error';
      const place = { file: null, line: null, column: null, code: null };
      addFinding(log, { tool: 'ansible', severity, ...place, message, start: line, end, weight: 80 }, found);
      const task = isIgnored ? 0 : taskAbove(log, line);
      if (task !== 0) found.blocks.push({ start: task, end: task, weight: 70, reason: 'ansible task' });
    }
  },
};

/** The first line of the message in a result, which is JSON or cut short of it. */
function messageOf(result: string): string | null {
  const said = /"(?:msg|stderr)": "((?:[^"\\]|\\.){1,480})/.exec(result)?.[1];
  return said?.split('\\n')[0]?.replace(/\\"/g, '"') ?? null;
}

function taskAbove(log: LogText, line: number): number {
  for (let at = line - 1; at >= Math.max(1, line - 60); at--) if (/^(?:TASK|RUNNING HANDLER) \[/.test(log.line(at))) return at;
  return 0;
}
