import { diagnosticExtractor } from './diagnostics.ts';

/** CMake's own errors, with its call stack. */
export const cmake = diagnosticExtractor(
  'cmake',
  ['cmake error', 'configuring incomplete'],
  [
    {
      pattern: /^CMake Error(?: at (?<file>[^\s:]{1,300}):(?<line>\d{1,7}) \([\w-]{1,80}\))?:?(?<message>.{0,400})/,
      weight: 80,
      belongs: (line) => /^\s{2,200}\S|^Call Stack|^$/.test(line),
      messageBelow: (line) => /^\s{2,8}(?<said>\S.{0,400})$/.exec(line)?.groups?.said ?? null,
    },
  ],
); // prettier-ignore
