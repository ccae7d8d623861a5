import { INDENTED, type Tool } from './diagnostics.ts';

const linked = /^>>> |^\s{1,20}\S|^ld: /;
const rustSource = new RegExp(
  String.raw`^\s{0,12}(?:\d{1,6})? {0,6}\||^\s{1,12}--> |^\s{1,200}[\^~]|^\s{2,200}\S|` +
    String.raw`^(?:symbol|location):|: note:|^\s{1,8}note:`,
);
const rustPlace = /^\s{0,12}--> (?<file>[^\s:]{1,300}):(?<line>\d{1,7}):(?<column>\d{1,6})/;

/** Compilers and linkers: messages without a place, or with the place in a form of their own. */
// biome-ignore format: one row for each shape
export const COMPILERS: readonly Tool[] = [
  { tool: 'gcc', literals: ['error: ', 'undefined reference', 'undefined symbol', ': cannot find -l',
    'multiple definition of', ': error: linker', 'all warnings being'], says: [
    { pattern: new RegExp(
        String.raw`^(?<file>[^\s:]{1,250}\.(?:c|cc|cpp|o|a|text))[:(][^\n]{0,60}:? ` +
        '(?<message>undefined reference to .{1,300})',
      ), weight: 80 },
    { pattern: new RegExp(
        String.raw`^(?:\S{1,120}: )?(?<file>[^\s:]{1,250}):[^:]{0,60}: ` +
        '(?<message>multiple definition of .{1,300})',
      ), weight: 80 },
    { pattern: new RegExp(
        String.raw`^(?<message>(?:cc1|cc1plus|clang|clang\+\+): (?:all warnings being|` +
        'error: linker command failed).{0,200})',
      ), weight: 46, pointer: true },
    { pattern: /^(?<message>collect2(?:\.exe)?: error: ld returned.{0,100})/, weight: 74, belongs: linked },
    { pattern: new RegExp(
        String.raw`^(?:\S{0,120}(?:ld|ld64|lld|lld-link|collect2|ld\.gold|ld\.lld|mold|wasm-ld|clang|` +
        String.raw`clang\+\+|gcc|g\+\+|cc1plus|cc1)(?:\.exe)?): (?:fatal )?error: (?<message>.{1,500})`,
      ), weight: 74, belongs: linked,
      placeBelow: /^>>> referenced by (?<file>[^\s:()]{1,250}):(?<line>\d{1,7})/ },
    { pattern: new RegExp(
        String.raw`^\S{0,120}\bld(?:\.\w{1,6})?: (?<message>(?:cannot find|symbol\(s\) not found|undefined|` +
        'duplicate symbol|library not found|framework not found).{0,300})',
      ), weight: 78 },
    { pattern: /^(?<message>Undefined symbols for architecture .{1,100})/, weight: 78, belongs: linked },
  ] },
  { tool: 'msvc', literals: ['error lnk', 'error c', 'command line error d', 'warning c', 'warning lnk'],
    says: [
    { pattern: new RegExp(
        String.raw`^\s{0,20}(?:\d{1,4}>)?(?<file>[^\n()]{1,300})\((?<line>\d{1,7})(?:,(?<column>\d{1,6}))?` +
        String.raw`\)\s?: (?:fatal )?(?<severity>error|warning) (?<code>C\d{4}): (?<message>.{1,500})`,
      ) },
    { pattern: new RegExp(
        String.raw`^\s{0,20}(?:\d{1,4}>)?(?<file>[^\s:()]{1,300})(?:\([^()\n]{1,200}\))?\s?: (?:fatal )?` +
        String.raw`(?<severity>error|warning) (?<code>LNK\d{4}): (?<message>.{1,500})`,
      ), weight: 80 },
    { pattern: /^\s{0,20}cl ?: Command line error (?<code>D\d{4}) ?: (?<message>.{1,300})/ },
  ] },
  { tool: 'nuget', literals: ['error nu', 'warning nu'],
    says: [{ pattern: new RegExp(
      String.raw`^\s{0,20}(?<file>[^\n:]{1,300}?)\s?(?:\(\d{1,6},\d{1,6}\))?\s?: (?<severity>error|` +
      String.raw`warning) (?<code>NU\d{4}): (?<message>.{1,500})`,
    ), belongs: /^\s{1,8}- / }] },
  { tool: 'msbuild', literals: ['): error ', '): warning ', ' : error ', ': fatal error', 'error msb',
    'error netsdk'], says: [
    { pattern: new RegExp(
        String.raw`^\s{0,20}(?:\d{1,4}>)?(?<file>[^\n()]{1,300})\((?<line>\d{1,7})(?:,(?<column>\d{1,6}))?` +
        String.raw`(?:,\d{1,6},\d{1,6})?\)\s?: (?:fatal )?(?<severity>error|warning)` +
        String.raw` (?<code>(?!TS\d)[A-Z]{1,8}\d{1,6}): (?<message>.{1,500})`,
      ) },
    { pattern: new RegExp(
        String.raw`^\s{0,20}(?<file>\S{1,300})\s?: (?:fatal )?(?<severity>error|warning) (?<code>(?:MSB|` +
        String.raw`NETSDK|CS|FS|BC|AD|CA|IDE)\d{2,6}): (?<message>.{1,500})`,
      ) },
  ] },
  { tool: 'rustc', literals: ['error[e', 'error: '], says: [
    { pattern: /^error\[(?<code>E\d{4})\]: (?<message>.{1,500})/, belongs: rustSource,
      placeBelow: rustPlace },
    { pattern: new RegExp(
        '^error: (?<message>(?:could not compile|linking with|expected|unexpected|cannot find|' +
        'no matching package|failed to (?:select|run|parse|load|resolve|get|fetch|' +
        'download|compile)|unused|this|mismatched|macro|cannot|unresolved|use of|' +
        'missing|the lock file|test failed).{0,500})',
      ), belongs: rustSource, placeBelow: rustPlace, weight: 72 },
  ] },
  { tool: 'scalac', literals: ['[error] -- '],
    says: [{ pattern: new RegExp(
      String.raw`^\[error\] -- (?:\[(?<code>E\d{1,4})\] )?(?<message>[\w ]{1,60}(?:Error|Warning))` +
      String.raw`: (?<file>[^\s:]{1,300}\.scala):(?<line>\d{1,7}):(?<column>\d{1,5})`,
    ), belongs: /^\[error\]\s{0,4}(?:\d{0,6}\s?\||$)/,
    messageBelow: /^\[error\]\s{1,12}\|\s{1,200}(?<said>(?![\^-])\S.{0,400})/ }] },
  { tool: 'tsc', literals: ['error ts'],
    says: [{ pattern: /\b(?<severity>error) (?<code>TS\d{1,5}): (?<message>.{1,500})/, belongs: INDENTED }] },
  { tool: 'golangci-lint', literals: ['level=error msg'],
    says: [{ pattern: /^level=error msg="(?<message>[^"]{1,400})"/, weight: 74 }] },
  { tool: 'xcodebuild', literals: [' failed **', 'xcodebuild: error', 'the following build commands failed',
    'provisioning profile', 'no signing certificate', 'requires a development team', 'code sign',
    'with a nonzero exit code', 'error: dependencies could not be resolved', '.xcodeproj: error'], says: [
    { pattern: new RegExp(
        String.raw`^(?<message>\*\* (?:BUILD|ARCHIVE|TEST|CLEAN|EXPORT|INSTALL|` +
        String.raw`TEST BUILD|TEST EXECUTE) FAILED \*\*)`,
      ), weight: 56, pointer: true, belongs: /^$|^The following build commands failed|^\t/ },
    { pattern: /^(?<message>The following build commands failed:)/, weight: 60, pointer: true,
      belongs: /^\t\S/ },
    { pattern: new RegExp(
        String.raw`^(?:(?<file>[^\s:]{1,250}\.xcodeproj): )?(?:xcodebuild: )?error: (?<message>.{0,200}` +
        '(?:provisioning profile|signing certificate|development team|code sign|' +
        'Code Sign|scheme|destination|workspace|project).{0,200})',
      ), weight: 80 },
    { pattern: /^(?<message>Command \w{1,40} failed with a nonzero exit code)/, weight: 50, pointer: true },
    { pattern: /^error: (?<message>Dependencies could not be resolved.{1,400})/, weight: 80 },
  ] },
  { tool: 'elixir', literals: ['** (', '== compilation error'], says: [
    { pattern: new RegExp(
        String.raw`^\s{0,4}\*\* \((?<code>(?:Compile|Syntax|Token)\w{0,30}Error|` +
        String.raw`MismatchedDelimiterError)\) (?:(?<file>[^\s:]{1,250}\.exs?):(?<line>\d{1,7})` +
        String.raw`(?::(?<column>\d{1,5}))?: )?(?<message>.{1,400})`,
      ), belongs: INDENTED },
    { pattern: /^\*\* \((?<code>\w{1,60}(?:Error|Exception))\) (?<message>.{1,400})/, belongs: INDENTED },
    { pattern: /^== Compilation error in file (?<file>[^\s=]{1,250}) ==(?<message>)/, weight: 70,
      pointer: true },
  ] },
  { tool: 'julia', literals: ['error: loaderror', 'error: methoderror', 'error: undefvarerror', 'error: pkg',
    'unsatisfiable requirements detected', 'not found in current path'],
    says: [{ pattern: new RegExp(
      '^ERROR: (?<message>(?:LoadError: |MethodError|UndefVarError|Pkg|' +
      String.raw`Unsatisfiable requirements detected|ArgumentError: Package \S{1,100} not found).{0,400})`,
    ), weight: 79,
    belongs: /^\s?[├└│─ ]{1,20}\S|^- Run|^Stacktrace:|^\s{1,20}\S|^in expression starting at|^caused by/,
    placeBelow: /^in expression starting at (?<file>[^\s:]{1,250}):(?<line>\d{1,7})(?<column>)/ }] },
  { tool: 'perl', literals: [' in @inc', "can't locate object", "can't call method", "can't use ",
    'global symbol "', 'undefined subroutine', 'bareword "', 'syntax error at'],
    says: [{ pattern: new RegExp(
      String.raw`^(?<message>(?:Can't (?:locate|call method|use (?:an undefined|string))|Global symbol "|` +
      String.raw`Undefined subroutine|Bareword "|syntax error|Not an? \w{1,10} reference|` +
      String.raw`Illegal division).{0,300}?)(?: \(@INC [^)]{0,1000}\))? at (?<file>\S{1,250})` +
      String.raw` line (?<line>\d{1,7})(?:\.|,.{0,200})?$`,
    ), weight: 79,
    belongs: new RegExp(
      String.raw`^(?:BEGIN failed|Compilation failed|Execution of \S{1,200} aborted|` +
      String.raw`\S{1,200} had (?:too many|compilation) errors)`,
    ) }] },
  { tool: 'php', literals: ['fatal error: ', 'parse error: '],
    says: [{ pattern: new RegExp(
      String.raw`^(?:PHP )?(?<message>(?:Parse|Fatal) error: .{1,500}?) in (?<file>\S{1,300}?)` +
      String.raw`(?: on line |:)(?<line>\d{1,7})$`,
    ), weight: 80, belongs: /^(?:PHP )?\s{0,8}(?:#?\d{1,4}\.? |Stack trace|thrown)/ }] },
  { tool: 'php-console', literals: ['.php line '],
    says: [{ pattern: /^In (?<file>[\w-]{1,100}\.php) line (?<line>\d{1,7}):(?<message>)$/, weight: 78,
      belongs: /^\s{2,200}\S|^$/, messageBelow: /^\s{2,8}(?<said>(?!\[)\S.{1,400})$/, isMessage: true }] },
  { tool: 'r', literals: ['error in ', ' ... error', 'error: dependency', 'error: dependencies',
    'error: compilation failed', 'error: lazy loading', 'error: package or namespace',
    'is not available for', 'there is no package'], says: [
    { pattern: /^\* (?<message>checking .{1,200} \.\.\.(?: \[[^\]]{1,40}\])? ERROR)$/, weight: 76,
      belongs: /^(?!\* )/, informative: /^\s{0,8}Error(?: in |:)|^ERROR/ },
    { pattern: /^\s{0,4}(?<message>Error in .{1,200} : ?.{0,300})$/, weight: 76,
      belongs: /^\s{1,20}\S|^Calls: |^Execution halted/ },
    { pattern: new RegExp(
        '^ERROR: (?<message>(?:dependenc(?:y|ies)|compilation failed|' +
        'lazy loading failed|package or namespace).{1,300})',
      ), weight: 76 },
    { pattern: new RegExp(
        String.raw`^(?:Warning message:|\s{0,4})?(?<message>package .{1,100} is not available for ` +
        '(?:this version of R|Bioconductor).{0,100})',
      ), weight: 70 },
  ] },
];

const SAID = new RegExp(
  String.raw`^\s{0,8}(?<said>(?:Module not found|Module build failed|Module parse failed|SyntaxError|` +
    String.raw`TypeError|ReferenceError|Error|TS\d{1,5}|Can't resolve|Cannot find)\b.{0,400})$`,
);
const CODE_FRAME = /^\s{0,4}>?\s{0,6}\d{0,6} ?[|│]|^\s{1,200}\S|^@ /;

/** Linters, formatters and bundlers: messages in a form of their own. */
// biome-ignore format: one row for each shape
export const LINTERS: readonly Tool[] = [
  { tool: 'biome', literals: [' format ━', ' organizeimports ━', ' lint/', ' assist/', ' parse ━'],
    says: [{ pattern: new RegExp(
      String.raw`^(?<file>[^\s:]{1,300})(?::(?<line>\d{1,7}):(?<column>\d{1,5}))? (?<code>(?:lint|` +
      String.raw`assist)/[\w/]{1,80}|format|organizeImports|parse)(?: {1,3}FIXABLE)?` +
      ' {1,3}━{3,200}(?<message>)$',
    ), belongs: /^$|^\s{1,200}\S/, messageBelow: /^\s{1,4}[×✖!] (?<said>\S.{0,400})/ }] },
  { tool: 'prettier', literals: ['code style issues', '[warn] ', '[error] ', 'mwarn', 'merror'],
    says: [{ pattern: new RegExp(
      String.raw`^(?:\[warn\]|\[error\]) (?<message>(?:Code style issues|` +
      String.raw`[^\s:]{1,300}\.\w{1,6}(?:: SyntaxError.{0,300})?$).{0,200})`,
    ), weight: 70 }] },
  { tool: 'linter', literals: ['would reformat', 'diff in ', '.orig ', '(original)', 'unformatted: '], says: [
    { pattern: /^would reformat:? (?<file>.{1,300})(?<message>)/i, weight: 76 },
    { pattern: /^unformatted: (?<message>File would be reformatted)$/, weight: 78,
      belongs: rustSource, placeBelow: rustPlace },
    { pattern: /^(?<file>\S{1,250}?):(?<line>\d{1,7}):\d{1,7}: unformatted: (?<message>.{1,80})/,
      weight: 78 },
    { pattern: /^diff (?:-\w{1,3} )?\S{1,250}\.orig (?<file>\S{1,250})(?<message>)/, weight: 78,
      belongs: /^[ +@-]/ },
    { pattern: /^--- (?<file>\S{1,250})\s\(original\)(?<message>)/, weight: 78, belongs: /^(?!--- )[ +@-]/ },
    { pattern: /^Diff in (?<file>\S{1,250}?)[: ](?:at line )?(?<line>\d{1,7}):?(?<message>)/, weight: 78,
      belongs: /^[ +-]/ },
  ] },
  { tool: 'black', literals: ['error: cannot format'],
    says: [{ pattern: /^error: cannot format (?<file>[^\s:]{1,250}): (?<message>.{1,300})/, weight: 76 }] },
  { tool: 'isort', literals: ['imports are incorrectly sorted'],
    says: [{ pattern: new RegExp(
      '^ERROR: (?<file>.{1,250}?) ' +
      String.raw`(?<message>Imports are incorrectly sorted and/or formatted\.)`,
    ), weight: 76 }] },
  { tool: 'shellcheck', literals: [' line '],
    says: [{ pattern: /^In (?<file>(?!\S{1,100}\.php)\S{1,250}) line (?<line>\d{1,7}):(?<message>)$/,
      weight: 76, belongs: /^(?!In \S|For more information)\s{0,2000}\S/,
      messageBelow: /\^-{0,100}\^?\s(?<said>SC\d{4}.{1,400})/ }] },
  { tool: 'psalm', literals: ['psalm.dev', 'error: '],
    says: [{ pattern: new RegExp(
      String.raw`^ERROR: (?<code>\w{1,60}) - (?<file>[^\s:]{1,250}):(?<line>\d{1,7}):(?<column>\d{1,5})` +
      String.raw` - (?<message>.{1,400}?)(?: \(see https://psalm\.dev.{0,60})?$`,
    ), weight: 76 }] },
  { tool: 'perlcritic', literals: ['(severity: '],
    says: [{ pattern: new RegExp(
      String.raw`^(?<message>.{1,300}?) at line (?<line>\d{1,7}), column ` +
      String.raw`(?<column>\d{1,5})\..{0,80}\(Severity: \d\)`,
    ), weight: 74 }] },
  { tool: 'pre-commit', literals: ['.failed'],
    says: [{ pattern: /^(?<message>\S.{0,100}?)\.{3,100}Failed$/, weight: 66,
      belongs: /(?<!\.{3}(?:Passed|Failed|Skipped|\(no files to check\)Skipped))$/, isMessage: true }] },
  { tool: 'webpack', literals: ['error in ', 'module not found: error', 'module build failed',
    'module parse failed'], says: [
    { pattern: new RegExp(
        String.raw`^\s{0,4}ERROR in (?<file>[^\s():]{1,300}?)(?: (?<line>\d{1,7})` +
        String.raw`:(?<column>\d{1,5})(?:-[\d:]{1,12})?)?(?<message>)$`,
      ), weight: 79, belongs: new RegExp(`${SAID.source}|${CODE_FRAME.source}`), messageBelow: SAID },
    { pattern: /^\s{0,4}(?<message>Module (?:not found: Error|build failed|parse failed).{0,400})/,
      weight: 78, belongs: CODE_FRAME },
  ] },
  { tool: 'esbuild', literals: ['[error] '],
    says: [{ pattern: /^\s{0,4}(?:✘|X|\S) \[ERROR\] (?<message>.{1,400}?)(?: \[plugin [\w:-]{1,60}\])?$/,
      weight: 79, belongs: /^$|^\s{2,200}\S/,
      placeBelow: /^\s{2,8}(?<file>[^\s:]{1,300}):(?<line>\d{1,7}):(?<column>\d{1,5}):$/ }] },
  { tool: 'vite', literals: ['error during build', '[vite]: rollup failed', 'rolluperror: ',
    'could not resolve "', '[vite:'], says: [
    { pattern: /^\s{0,4}error during build:(?<message>.{0,200})$/, weight: 79, belongs: /^(?!\s{4,8}at |$)/,
      messageBelow: /^(?:\[vite\]: |RollupError: )?(?<said>\S.{1,400})$/,
      placeBelow: /^file: (?<file>[^\s:]{1,300}):(?<line>\d{1,7}):(?<column>\d{1,5})/ },
    { pattern: new RegExp(
        String.raw`^(?:\[!\] )?(?:\[vite\]: |RollupError: |\((?:plugin|` +
        String.raw`rollup-plugin)[^)]{1,60}\) )(?<message>.{1,400})`,
      ), weight: 78, belongs: /^\S{1,200} \(\d{1,6}:\d{1,6}\)$|^\s{0,4}\d{1,6}: |^\s{1,40}\^|^file: /,
      placeBelow: /^(?:file: )?(?<file>[^\s:]{1,300})(?: \(|:)(?<line>\d{1,7}):(?<column>\d{1,5})\)?$/ },
  ] },
  { tool: 'babel', literals: ['syntaxerror: '],
    says: [{ pattern: new RegExp(
      '^(?:Module build failed .{0,100}: )?SyntaxError: (?<file>(?:[A-Za-z]:)?' +
      String.raw`[^\s:]{1,300}\.\w{1,5}): (?<message>.{1,300}?) \((?<line>\d{1,7}):(?<column>\d{1,5})\)$`,
    ), weight: 79, belongs: /^$|^\s{0,4}>?\s{0,6}\d{0,6} \|/ }] },
];
