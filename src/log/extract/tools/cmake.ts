import { diagnosticExtractor } from './diagnostics.ts';

/** CMake and autotools. */
export const cmake = diagnosticExtractor(
  'cmake',
  ['cmake error', 'configure: error', 'checking for', 'configuring incomplete', 'meson.build:', 'ninja: error'],
  [
    {
      pattern: /^CMake Error(?: at (?<file>[^\s:]{1,300}):(?<line>\d{1,7}) \([\w-]{1,80}\))?:?(?<message>.{0,400})/,
      weight: 80,
      belongs: (line) => /^\s{2,200}\S|^Call Stack|^$/.test(line),
      messageBelow: (line) => /^\s{2,8}(?<said>\S.{0,400})$/.exec(line)?.groups?.said ?? null,
    },
    {
      pattern: /^(?:configure|\S{0,100}\/configure): error: (?<message>.{1,400})/,
      weight: 80,
      belongs: (line) => /^(?:See|configure: error|Try)\b/.test(line),
    },
    { pattern: /^(?<file>\S{0,200}meson\.build):(?<line>\d{1,7}):(?<column>\d{1,5}): ERROR: (?<message>.{1,400})/, weight: 80 },
    { pattern: /^ninja: error: (?<message>.{1,400})/, weight: 74 },
  ],
); // prettier-ignore
