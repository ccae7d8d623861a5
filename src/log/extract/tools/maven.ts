import { diagnosticExtractor } from './diagnostics.ts';

const more = (line: string) =>
  /^\[ERROR\] (?!Failed to execute|To see|Re-run|For more|After correcting|-> \[|\[Help)\S|^(?:Could not|This could|If you are)/.test(line);

/** Maven: goals that failed, artifacts that cannot be had, POMs that cannot be read, rules of the enforcer. */
export const maven = diagnosticExtractor(
  'mvn',
  [
    'failed to execute goal',
    'could not find artifact',
    'could not transfer artifact',
    'could not resolve dependencies',
    'non-resolvable',
    'failed with message',
    'unknown lifecycle phase',
    'no goals have been specified',
    'the selected project in the reactor',
    'no plugin found for prefix',
    'non-parseable pom',
    'malformed pom',
    'is missing. @ line',
  ],
  [
    {
      pattern:
        /^\[ERROR\] Failed to execute goal (?<message>\S{1,200} .{0,200}: (?:Compilation failure|There (?:are|were) test (?:failures|errors)|Test failure|There was a timeout).{0,200})/,
      weight: 50,
      pointer: true,
    },
    {
      tool: 'packages',
      pattern:
        /^\[(?:ERROR|FATAL)\] (?:Failed to execute goal .{1,200}: )?(?<message>(?:Could not resolve dependencies for project|Plugin \S{1,200} or one of its dependencies could not be resolved|Non-resolvable \w{1,20} POM|No plugin found for prefix).{0,600})/,
      weight: 79,
      belongs: more,
    },
    {
      tool: 'packages',
      pattern: /^(?:\[(?:ERROR|FATAL)\] )?(?<message>Could not (?:find artifact|transfer artifact).{1,400})/,
      weight: 74,
      belongs: more,
    },
    {
      tool: 'enforcer',
      pattern: /^\[ERROR\] (?<message>Rule \d{1,3}: \S{1,200} failed with message:.{0,300})/,
      weight: 79,
      belongs: (line) => /^(?!\[(?:INFO|WARNING)\])\S/.test(line) && !/^\[ERROR\] (?:Rule|->|To see)/.test(line),
      messageBelow: (line) => /^(?:\[ERROR\] )?(?<said>(?!\[)\S.{0,400})/.exec(line)?.groups?.said ?? null,
    },
    {
      pattern:
        /^\[(?:ERROR|FATAL)\] (?<message>(?:Unknown lifecycle phase|No goals have been specified|Could not find the selected project|Non-parseable POM|Malformed POM|'[\w.]{1,80}' .{0,80} is missing).{0,300}?)(?: @ .{0,8}line (?<line>\d{1,7}), column (?<column>\d{1,5}).{0,40})?$/,
      weight: 79,
    },
    { pattern: /^\[ERROR\] Failed to execute goal (?<message>\S{1,200} .{0,400})/, weight: 66, belongs: more, isMessage: true },
  ],
); // prettier-ignore
