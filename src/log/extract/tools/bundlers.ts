import { diagnosticExtractor } from './diagnostics.ts';

const said = (line: string) =>
  /^\s{0,8}(?<said>(?:Module not found|Module build failed|Module parse failed|SyntaxError|TypeError|ReferenceError|Error|TS\d{1,5}|Can't resolve|Cannot find)\b.{0,400})$/.exec(
    line,
  )?.groups?.said ?? null;
const codeFrame = (line: string) => /^\s{0,4}>?\s{0,6}\d{0,6} ?[|│]|^\s{1,200}\S|^@ /.test(line);

/** webpack, with what its loaders say below. */
export const webpack = diagnosticExtractor(
  'webpack',
  ['error in ', 'module not found: error', 'module build failed', 'module parse failed'],
  [
    {
      pattern: /^\s{0,4}ERROR in (?<file>[^\s():]{1,300}?)(?: (?<line>\d{1,7}):(?<column>\d{1,5})(?:-[\d:]{1,12})?)?(?<message>)$/,
      weight: 79,
      belongs: (line) => said(line) !== null || codeFrame(line),
      messageBelow: said,
    },
    { pattern: /^\s{0,4}(?<message>Module (?:not found: Error|build failed|parse failed).{0,400})/, weight: 78, belongs: codeFrame },
  ],
); // prettier-ignore

/** Vite, Rollup and esbuild. */
export const vite = diagnosticExtractor(
  'vite',
  ['error during build', '[vite]: rollup failed', 'rolluperror: ', '[error] ', 'could not resolve "', '[vite:'],
  [
    {
      tool: 'esbuild',
      pattern: /^\s{0,4}(?:✘|X|\S) \[ERROR\] (?<message>.{1,400}?)(?: \[plugin [\w:-]{1,60}\])?$/,
      weight: 79,
      belongs: (line) => line === '' || /^\s{2,200}\S/.test(line),
      placeBelow: /^\s{2,8}(?<file>[^\s:]{1,300}):(?<line>\d{1,7}):(?<column>\d{1,5}):$/,
    },
    {
      pattern: /^\s{0,4}error during build:(?<message>.{0,200})$/,
      weight: 79,
      belongs: (line) => !/^\s{4,8}at |^$/.test(line),
      messageBelow: (line) => /^(?:\[vite\]: |RollupError: )?(?<said>\S.{1,400})$/.exec(line)?.groups?.said ?? null,
      placeBelow: /^file: (?<file>[^\s:]{1,300}):(?<line>\d{1,7}):(?<column>\d{1,5})/,
    },
    {
      pattern: /^(?:\[!\] )?(?:\[vite\]: |RollupError: |\((?:plugin|rollup-plugin)[^)]{1,60}\) )(?<message>.{1,400})/,
      weight: 78,
      belongs: (line) => /^\S{1,200} \(\d{1,6}:\d{1,6}\)$|^\s{0,4}\d{1,6}: |^\s{1,40}\^|^file: /.test(line),
      placeBelow: /^(?:file: )?(?<file>[^\s:]{1,300})(?: \(|:)(?<line>\d{1,7}):(?<column>\d{1,5})\)?$/,
    },
  ],
); // prettier-ignore

/** Babel: a syntax error with its code frame. */
export const babel = diagnosticExtractor(
  'babel',
  ['syntaxerror: '],
  [
    {
      pattern:
        /^(?:Module build failed .{0,100}: )?SyntaxError: (?<file>(?:[A-Za-z]:)?[^\s:]{1,300}\.\w{1,5}): (?<message>.{1,300}?) \((?<line>\d{1,7}):(?<column>\d{1,5})\)$/,
      weight: 79,
      belongs: (line) => line === '' || /^\s{0,4}>?\s{0,6}\d{0,6} \|/.test(line),
    },
  ],
); // prettier-ignore
