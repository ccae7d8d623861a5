import { diagnosticExtractor } from './diagnostics.ts';

const source = (line: string) =>
  /^\s{0,12}(?:\d{1,6})? {0,6}\||^\s{1,12}--> |^\s{1,200}[\^~]|^\s{2,200}\S|^(?:symbol|location):/.test(line) ||
  /: note:|^\s{1,8}note:/.test(line);

/** `   --> src/main.rs:19:34` */
const arrow = /^\s{0,12}--> (?<file>[^\s:]{1,300}):(?<line>\d{1,7}):(?<column>\d{1,6})/;

/** rustc and cargo. */
export const rustc = diagnosticExtractor(
  'rustc',
  ['error[e', 'error: ', 'error:'],
  [
    { pattern: /^error\[(?<code>E\d{4})\]: (?<message>.{1,500})/, belongs: source, placeBelow: arrow },
    {
      pattern:
        /^error: (?<message>(?:could not compile|linking with|expected|unexpected|cannot find|no matching package|failed to (?:select|run|parse|load|resolve|get|fetch|download|compile)|unused|this|mismatched|macro|cannot|unresolved|use of|missing|the lock file|test failed).{0,500})/,
      belongs: source,
      placeBelow: arrow,
      weight: 72,
    },
  ],
); // prettier-ignore
