import { diagnosticExtractor } from './diagnostics.ts';

/** git, ssh, scp, curl and wget. What they say is a message: a service or a network is asked, no source is to blame. */
export const transfer = diagnosticExtractor(
  'transfer',
  [
    'merge conflict in',
    '! [rejected]',
    '! [remote rejected]',
    'failed to push some refs',
    'did not match any file',
    'could not apply',
    'gh00',
    'ssh: connect',
    'kex_exchange',
    'host key verification',
    'permission denied (',
    'lost connection',
    'curl: (',
    'error 404',
    'error 403',
    'error 50',
    'wget: ',
    'would be overwritten by',
    'not a git repository',
    'could not read username',
    'authentication failed for',
    'smudge filter',
  ],
  [
    { tool: 'git', pattern: /^(?<message>CONFLICT \(.{1,40}\): .{1,300})/, weight: 80, isMessage: true },
    {
      tool: 'git',
      pattern: /^\s{0,4}(?<message>! \[(?:remote )?rejected\] .{1,300})/,
      weight: 80,
      belongs: (line) => /^(?:error|hint): /.test(line),
      isMessage: true,
    },
    {
      tool: 'git',
      pattern:
        /^(?:error|fatal|remote): (?<message>.{0,20}(?:failed to push some refs|pathspec '.{1,200}' did not match|could not apply|Your local changes .{1,80} would be overwritten|not a git repository|could not read Username|Authentication failed for|external filter|GH0\d\d: ).{0,300})/,
      weight: 80,
      isMessage: true,
    },
    {
      tool: 'ssh',
      pattern:
        /^(?<message>ssh: connect to host .{1,200}|kex_exchange_identification: .{1,200}|Host key verification failed.{0,20}|(?:\S{1,100}: )?Permission denied \([\w,-]{1,80}\)\.?|lost connection)$/,
      weight: 80,
      isMessage: true,
    },
    { tool: 'curl', pattern: /^(?<message>curl: \(\d{1,3}\) .{1,300})/, weight: 79, isMessage: true },
    {
      tool: 'wget',
      pattern: /^(?<message>wget: .{1,200}|(?:\d{4}-\d\d-\d\d )?(?:\d\d:\d\d:\d\d )?ERROR (?:4|5)\d\d: .{1,100})/,
      weight: 78,
      isMessage: true,
    },
  ],
); // prettier-ignore
