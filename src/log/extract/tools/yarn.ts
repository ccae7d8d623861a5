import { diagnosticExtractor } from './diagnostics.ts';

/** Yarn 1 (`error …`) and Berry (`➤ YN0028: │ …`). Codes that only inform are left out. */
export const yarn = diagnosticExtractor(
  'yarn',
  [
    ' yn00',
    'error an unexpected',
    "error couldn't find",
    'error your lockfile',
    'error found incompatible',
    'error package ',
    'the engine "',
    'error https',
    'usage error: ',
    'internal error: ',
  ],
  [
    {
      pattern:
        /^error (?!Command failed)(?<message>(?:An unexpected error|Couldn't find|Your lockfile|Found incompatible|Package .{1,80} refers|https?:|.{1,80}: The engine).{0,400})/,
      weight: 78,
    },
    {
      pattern:
        /^➤ (?<code>YN(?!0000|0013|0019|0002|0060|0086|0007|0008|0004|0005|0006|0061|0062|0085)\d{4}): [│└┌ ]{0,8}(?<message>.{1,400})/,
      weight: 74,
    },
    { pattern: /^(?<message>(?:Usage|Internal) Error: .{1,400})/, weight: 76, belongs: (line) => /^\s{1,8}(?:at |\S)|^\$ yarn/.test(line) },
  ],
); // prettier-ignore
