import type { Tool } from './diagnostics.ts';

const said = (line: string) =>
  /^\s{0,8}(?<said>(?:Module not found|Module build failed|Module parse failed|SyntaxError|TypeError|ReferenceError|Error|TS\d{1,5}|Can't resolve|Cannot find)\b.{0,400})$/.exec(
    line,
  )?.groups?.said ?? null;
const codeFrame = (line: string) => /^\s{0,4}>?\s{0,6}\d{0,6} ?[|│]|^\s{1,200}\S|^@ /.test(line);

/** Linters, formatters and bundlers: what they say in a shape of their own. */
// biome-ignore format: one line for each shape
export const LINTERS: readonly Tool[] = [
  {
    tool: 'biome',
    literals: [' format ━', ' organizeimports ━', ' lint/', ' assist/', ' parse ━'],
    says: [{
      pattern: /^(?<file>[^\s:]{1,300})(?::(?<line>\d{1,7}):(?<column>\d{1,5}))? (?<code>(?:lint|assist)\/[\w/]{1,80}|format|organizeImports|parse)(?: {1,3}FIXABLE)? {1,3}━{3,200}(?<message>)$/,
      belongs: (line) => line === '' || /^\s{1,200}\S/.test(line),
      messageBelow: (line) => /^\s{1,4}[×✖!] (?<said>\S.{0,400})/.exec(line)?.groups?.said ?? null,
    }],
  },
  {
    tool: 'prettier',
    literals: ['code style issues', '[warn] ', '[error] '],
    says: [{ pattern: /^(?:\[warn\]|\[error\]) (?<message>(?:Code style issues|[^\s:]{1,300}\.\w{1,6}(?:: SyntaxError.{0,300})?$).{0,200})/, weight: 70 }],
  },
  {
    tool: 'linter',
    literals: ['would reformat', 'diff in '],
    says: [
      { pattern: /^would reformat (?<file>.{1,300})(?<message>)/i, weight: 76 },
      { pattern: /^Diff in (?<file>\S{1,250}?)[: ](?:at line )?(?<line>\d{1,7}):?(?<message>)/, weight: 78, belongs: (line) => /^[ +-]/.test(line) },
    ],
  },
  { tool: 'black', literals: ['error: cannot format'], says: [{ pattern: /^error: cannot format (?<file>[^\s:]{1,250}): (?<message>.{1,300})/, weight: 76 }] },
  { tool: 'isort', literals: ['imports are incorrectly sorted'], says: [{ pattern: /^ERROR: (?<file>.{1,250}?) (?<message>Imports are incorrectly sorted and\/or formatted\.)/, weight: 76 }] },
  {
    tool: 'shellcheck',
    literals: [' line '],
    says: [{
      pattern: /^In (?<file>(?!\S{1,100}\.php)\S{1,250}) line (?<line>\d{1,7}):(?<message>)$/,
      weight: 76,
      belongs: (line) => /\S/.test(line) && !/^In \S|^For more information/.test(line),
      messageBelow: (line) => /\^-{0,100}\^?\s(?<said>SC\d{4}.{1,400})/.exec(line)?.groups?.said ?? null,
    }],
  },
  {
    tool: 'psalm',
    literals: ['psalm.dev', 'error: '],
    says: [{ pattern: /^ERROR: (?<code>\w{1,60}) - (?<file>[^\s:]{1,250}):(?<line>\d{1,7}):(?<column>\d{1,5}) - (?<message>.{1,400}?)(?: \(see https:\/\/psalm\.dev.{0,60})?$/, weight: 76 }],
  },
  {
    tool: 'perlcritic',
    literals: ['(severity: '],
    says: [{ pattern: /^(?<message>.{1,300}?) at line (?<line>\d{1,7}), column (?<column>\d{1,5})\..{0,80}\(Severity: \d\)/, weight: 74 }],
  },
  {
    tool: 'pre-commit',
    literals: ['.failed'],
    says: [{
      pattern: /^(?<message>\S.{0,100}?)\.{3,100}Failed$/,
      weight: 66,
      belongs: (line) => !/\.{3,100}(?:Passed|Failed|Skipped|\(no files to check\)Skipped)$/.test(line),
      isMessage: true,
    }],
  },
  {
    tool: 'webpack',
    literals: ['error in ', 'module not found: error', 'module build failed', 'module parse failed'],
    says: [
      { pattern: /^\s{0,4}ERROR in (?<file>[^\s():]{1,300}?)(?: (?<line>\d{1,7}):(?<column>\d{1,5})(?:-[\d:]{1,12})?)?(?<message>)$/, weight: 79, belongs: (line) => said(line) !== null || codeFrame(line), messageBelow: said },
      { pattern: /^\s{0,4}(?<message>Module (?:not found: Error|build failed|parse failed).{0,400})/, weight: 78, belongs: codeFrame },
    ],
  },
  {
    tool: 'esbuild',
    literals: ['[error] '],
    says: [{
      pattern: /^\s{0,4}(?:✘|X|\S) \[ERROR\] (?<message>.{1,400}?)(?: \[plugin [\w:-]{1,60}\])?$/,
      weight: 79,
      belongs: (line) => line === '' || /^\s{2,200}\S/.test(line),
      placeBelow: /^\s{2,8}(?<file>[^\s:]{1,300}):(?<line>\d{1,7}):(?<column>\d{1,5}):$/,
    }],
  },
  {
    tool: 'vite',
    literals: ['error during build', '[vite]: rollup failed', 'rolluperror: ', 'could not resolve "', '[vite:'],
    says: [
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
  },
  {
    tool: 'babel',
    literals: ['syntaxerror: '],
    says: [{
      pattern: /^(?:Module build failed .{0,100}: )?SyntaxError: (?<file>(?:[A-Za-z]:)?[^\s:]{1,300}\.\w{1,5}): (?<message>.{1,300}?) \((?<line>\d{1,7}):(?<column>\d{1,5})\)$/,
      weight: 79,
      belongs: (line) => line === '' || /^\s{0,4}>?\s{0,6}\d{0,6} \|/.test(line),
    }],
  },
];
