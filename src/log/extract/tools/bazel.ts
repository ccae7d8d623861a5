import { diagnosticExtractor } from './diagnostics.ts';

/** What an action printed below Bazel's line, up to Bazel's next word. */
const printed = (line: string) => !/^(?:ERROR|INFO|WARNING|Target|FAILED|Build|\[\d|\(\d\d:)/.test(line);

/** Bazel: failing actions, packages and targets that are not there, repositories that cannot be fetched. */
export const bazel = diagnosticExtractor(
  'bazel',
  [
    'error: /',
    'error: no such',
    'error: analysis of',
    'error: error computing',
    'error: skipping',
    'error: an error occurred during',
    'no such target',
  ],
  [
    {
      pattern:
        /^ERROR: (?<file>\/[^\s:]{1,300}\/(?:BUILD|WORKSPACE|MODULE)(?:\.bazel)?|\/[^\s:]{1,300}\.bzl):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<message>.{1,500})/,
      weight: 76,
      belongs: printed,
    },
    {
      pattern:
        /^ERROR: (?:Skipping '.{1,200}': )?(?<message>(?:no such (?:package|target)|Error computing the main repository|An error occurred during the fetch|error loading package).{0,400})/,
      weight: 78,
      belongs: (line) => /^\s{1,20}\S|^- \//.test(line),
    },
    { pattern: /^ERROR: (?<message>Analysis of target .{1,300})/, weight: 56, pointer: true },
  ],
); // prettier-ignore
