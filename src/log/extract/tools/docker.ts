import { diagnosticExtractor } from './diagnostics.ts';

/** Docker and BuildKit. */
export const docker = diagnosticExtractor(
  'docker',
  ['failed to solve', 'returned a non-zero code', 'error response from daemon', 'cannot connect to the docker', 'dockerfile:'],
  [
    {
      pattern:
        /(?<message>(?:ERROR: )?failed to solve: .{1,400}|The command '.{1,300}' returned a non-zero code: \d{1,3}|Error response from daemon: .{1,300}|Cannot connect to the Docker daemon.{0,200})/,
      weight: 70,
    },
    {
      pattern: /^(?<file>\S{0,200}Dockerfile\S{0,40}):(?<line>\d{1,5})$/,
      weight: 66,
      belongs: (line) => /^-{5,}|^\s{1,8}\d{0,5} \|/.test(line),
    },
  ],
); // prettier-ignore
