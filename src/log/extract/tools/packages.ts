import { diagnosticExtractor } from './diagnostics.ts';

const indented = (line: string) => /^\s{2,200}\S|^$/.test(line) && line.length < 400;

/** Ruby's bundler, PHP's composer, Go modules, Cargo's resolver, and other package managers. */
export const packages = diagnosticExtractor(
  'packages',
  [
    'bundler could not',
    'could not find',
    'your requirements could not',
    'could not resolve',
    'no matching package',
    'e: unable',
    'e: failed',
    'e: package',
    'rake aborted',
    'cannot resolve',
    'unsatisfiable',
  ],
  [
    {
      pattern:
        /^(?<message>Bundler could not find compatible versions.{0,200}|Could not find .{1,200} in any of the sources.{0,100}|Your requirements could not be resolved.{0,200})/,
      weight: 80,
      belongs: indented,
    },
    { pattern: /^E: (?<message>(?:Unable|Failed|Package|Could|Version|Sub-process).{1,300})/, weight: 74 },
    { pattern: /^(?<message>rake aborted!)/, weight: 72, belongs: (line) => line.length > 0 && !/^\(See full/.test(line) },
    {
      pattern: /^(?<message>Could not (?:find artifact|transfer artifact).{1,300})/,
      weight: 72,
      belongs: (line) => /^(?:Could not|This could|If you are)/.test(line),
    },
  ],
); // prettier-ignore
