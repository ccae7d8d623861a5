import { diagnosticExtractor } from './diagnostics.ts';

/** Julia's errors, with their stack, and Pkg. */
export const julia = diagnosticExtractor(
  'julia',
  [
    'error: loaderror',
    'unsatisfiable requirements detected',
    'not found in current path',
    'in expression starting at',
    'error: methoderror',
    'error: undefvarerror',
    'error: pkg',
  ],
  [
    {
      tool: 'packages',
      pattern:
        /^ERROR: (?<message>(?:LoadError: )?(?:Unsatisfiable requirements detected|ArgumentError: Package \S{1,100} not found).{0,300})/,
      weight: 80,
      belongs: (line) => /^\s?[├└│─ ]{1,20}\S|^- Run|^Stacktrace:|^\s{1,20}\S/.test(line),
    },
    {
      pattern: /^ERROR: (?<message>(?:LoadError: |MethodError|UndefVarError|Pkg).{0,400})/,
      weight: 78,
      belongs: (line) => /^Stacktrace:|^\s{1,20}\S|^in expression starting at|^caused by/.test(line),
      placeBelow: /^in expression starting at (?<file>[^\s:]{1,250}):(?<line>\d{1,7})(?<column>)/,
    },
  ],
); // prettier-ignore
