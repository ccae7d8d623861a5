import { diagnosticExtractor } from './diagnostics.ts';

/** Docker: the classic builder, BuildKit and Compose. */
export const docker = diagnosticExtractor(
  'docker',
  [
    'failed to solve',
    'returned a non-zero code',
    'error response from daemon',
    'cannot connect to the docker',
    'dockerfile:',
    ' error: process "',
    ' > [',
    'dockerfile parse error',
    'dependency failed to start',
    'refers to undefined',
    'docker-compose.y',
    'compose.y',
    'pull access denied',
  ],
  [
    {
      pattern:
        /(?<message>(?:ERROR: )?failed to solve: .{1,400}|The command '.{1,300}' returned a non-zero code: \d{1,3}|Error response from daemon: .{1,300}|Cannot connect to the Docker daemon.{0,200})/,
      weight: 70,
    },
    { pattern: /^#\d{1,4} ERROR: (?<message>process ".{1,300}" did not complete.{0,100})/, weight: 60, pointer: true },
    { pattern: /^ ?> \[(?<message>[^\]]{1,120}\].{0,300})$/, weight: 76, pointer: true, belongs: (line) => !/^-{4,}$/.test(line) },
    {
      pattern: /^(?<file>\S{0,200}Dockerfile\S{0,40}):(?<line>\d{1,5})(?<message>)$/,
      weight: 66,
      belongs: (line) => /^-{5,}|^\s{1,8}\d{0,5} \|/.test(line),
      messageBelow: (line) => /^\s{1,8}\d{1,5} \| >>> (?<said>\S.{0,300})/.exec(line)?.groups?.said ?? null,
    },
    { pattern: /^(?:Error response from daemon: )?(?<message>dockerfile parse error.{1,300})/i, weight: 78 },
    {
      tool: 'compose',
      pattern: /^(?<message>dependency failed to start: .{1,200}|service ".{1,80}" refers to undefined .{1,200})/,
      weight: 78,
    },
    { tool: 'compose', pattern: /^(?:validating |ERROR: )?(?<file>\S{0,200}compose\.ya?ml): (?<message>.{1,300})/, weight: 76 },
  ],
); // prettier-ignore
