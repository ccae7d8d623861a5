import { diagnosticExtractor } from './diagnostics.ts';

/** What one rule of ninja printed below its command, up to the next rule. */
const printed = (line: string) => !/^\[\d{1,6}\/\d{1,6}\]|^ninja: |^FAILED: /.test(line) && line !== '';

/** Ninja: its own errors, and the rule that failed. */
export const ninja = diagnosticExtractor(
  'ninja',
  ['ninja: error', 'failed: '],
  [
    { pattern: /^ninja: error: (?<message>.{1,400})/, weight: 74 },
    {
      pattern: /^FAILED: (?<message>(?:\[code=\d{1,3}\] )?[^\s:]{1,300})(?:\s{1,2}[^\s:]{1,300}(?: [^\s:]{1,300}){0,3})?\s{0,2}$/,
      weight: 58,
      pointer: true,
      belongs: printed,
    },
  ],
); // prettier-ignore
