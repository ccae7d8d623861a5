import { diagnosticExtractor } from './diagnostics.ts';

/** kubectl and Helm. */
export const kubernetes = diagnosticExtractor(
  'kubernetes',
  [
    'error from server',
    'error validating',
    'exceeded its progress deadline',
    'timed out waiting for the condition',
    'imagepullbackoff',
    'crashloopbackoff',
    'errimagepull',
    'installation failed',
    'upgrade failed',
    'error: template:',
    'yaml parse error on',
    'the connection to the server',
    'unable to recognize',
    'no matches for kind',
    'error: chart ',
  ],
  [
    {
      tool: 'helm',
      pattern:
        /^Error: (?:(?:INSTALLATION|UPGRADE|ROLLBACK) FAILED: )?(?<message>(?:template: (?<file>[^\s:]{1,200}):(?<line>\d{1,6})(?::(?<column>\d{1,5}))?: |YAML parse error on |chart ).{1,300})/,
      weight: 80,
    },
    { tool: 'helm', pattern: /^Error: (?<message>(?:INSTALLATION|UPGRADE|ROLLBACK) FAILED: .{1,400})/, weight: 80, isMessage: true },
    {
      tool: 'kubectl',
      pattern: /^(?:error: |Error: )?(?<message>(?:error validating|unable to recognize|no matches for kind|error parsing) .{1,300})/,
      weight: 80,
    },
    {
      tool: 'kubectl',
      pattern: /^(?<message>Error from server(?: \(\w{1,40}\))?: .{1,400}|The connection to the server \S{1,200} was refused.{0,100})/,
      weight: 80,
      isMessage: true,
    },
    {
      tool: 'kubectl',
      pattern: /^error: (?<message>.{0,200}(?:exceeded its progress deadline|timed out waiting for the condition).{0,100})/,
      weight: 78,
      isMessage: true,
    },
    { pattern: /^(?<message>.{0,200}\b(?:ImagePullBackOff|CrashLoopBackOff|ErrImagePull)\b.{0,100})/, weight: 64, isMessage: true },
  ],
); // prettier-ignore

const boxed = (line: string) => /^[│╵|]|^\s{1,20}\S|^$/.test(line);

/** Terraform and OpenTofu: errors in a box, the place inside of it. */
export const terraform = diagnosticExtractor(
  'terraform',
  ['.tf line ', 'error: '],
  [
    {
      pattern: /^[│|] {1,2}Error: (?<message>.{1,300})/,
      weight: 79,
      belongs: (line) => /^[│|]/.test(line) && !/^[│|] {1,2}Error: /.test(line),
      placeBelow: /^[│|]\s{1,8}on (?<file>\S{1,200}\.tf(?:\.json|vars)?) line (?<line>\d{1,6})(?<column>)/,
    },
    {
      pattern:
        /^Error: (?<message>(?:Unsupported|Missing|Invalid|Reference to undeclared|Failed to query|Duplicate|Inconsistent|Incorrect|Backend|Unreadable|Argument|Error (?:acquiring|creating|refreshing)).{1,300})$/,
      weight: 77,
      belongs: boxed,
      placeBelow: /^\s{2,8}on (?<file>\S{1,200}\.tf(?:\.json|vars)?) line (?<line>\d{1,6})(?<column>)/,
    },
  ],
); // prettier-ignore

/** Command lines of clouds, and the frameworks over them. */
export const clouds = diagnosticExtractor(
  'cloud',
  ['an error occurred (', 'error: (gcloud', 'error: (', 'serverless error', '_failed', 'create_failed', 'update_failed'],
  [
    {
      tool: 'aws',
      pattern: /^(?:\S{1,100}: )?(?<message>An error occurred \((?<code>\w{1,80})\) when calling the \w{1,80} operation.{0,300})/,
      weight: 80,
      isMessage: true,
    },
    { tool: 'gcloud', pattern: /^ERROR: (?<message>\((?:gcloud|\w{3,60})[\w.-]{0,100}\) .{1,400})/, weight: 79, isMessage: true },
    {
      tool: 'serverless',
      pattern: /^\s{0,4}Serverless Error -{3,100}(?<message>)$/,
      weight: 76,
      belongs: (line) => line.trim() === '' || /^\s{2,8}\S/.test(line),
      messageBelow: (line) => /^\s{1,8}(?<said>\S.{0,400})/.exec(line)?.groups?.said ?? null,
      isMessage: true,
    },
    { tool: 'cloudformation', pattern: /^(?<message>.{0,200}\b(?:CREATE|UPDATE|DELETE)_FAILED\b.{0,300})/, weight: 72, isMessage: true },
  ],
); // prettier-ignore
