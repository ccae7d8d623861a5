import { diagnosticExtractor } from './diagnostics.ts';

/** make: its own complaints. The line that says a recipe failed only points up. */
export const make = diagnosticExtractor(
  'make',
  ['*** ', 'no rule to make', 'make: '],
  [
    { pattern: /^(?:g|mingw32-)?make(?:\[\d{1,2}\])?: \*\*\* (?<message>No rule to make target .{1,400})/, weight: 78 },
    { pattern: /^(?<file>[\w./-]{1,200}):(?<line>\d{1,6}): \*\*\* (?<message>.{1,300})/, weight: 76 },
    {
      pattern: /^(?:g|mingw32-)?make(?:\[\d{1,2}\])?: \*\*\* \[(?:(?<file>[^\s:]{1,200}):(?<line>\d{1,6}): )?(?<message>.{1,300})/,
      weight: 45,
      severity: 'error',
      pointer: true,
    },
    {
      pattern:
        /^(?:g|mingw32-)?make(?:\[\d{1,2}\])?: (?<message>\S{1,200}: (?:Command not found|No such file or directory|Permission denied).{0,40})/,
      weight: 80,
      isMessage: true,
    },
  ],
); // prettier-ignore
