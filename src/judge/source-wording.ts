import type { Fix } from './sentence.ts';

const NAME = String.raw`[\w.$:<>~]{1,80}`;
const pattern = ({ raw }: TemplateStringsArray) =>
  new RegExp((raw[0] ?? '').replace(/\n {4}/g, '').replaceAll('NAME', NAME));

/**
 * Messages about source code that compilers, type checkers and linters of many languages print in similar
 * words.
 */
export const SOURCE_READS: readonly RegExp[] = [
  // These patterns match a suggestion for a misspelled name.
  /\b[Dd]id you mean:? (?:to (?:use|import|write) )?(?:one of )?['"`‘“]?(?<suggestion>[\w@./$:-]{2,80})/,
  /\bthere is (?:a |an )?[\w ]{1,40} with a similar name[^`'"\n]{0,40}[`'"](?<suggestion>[\w@./$:-]{2,80})/,
  pattern`[\x60'"‘](?<member>NAME)['"’\x60] does not exist on type [\x60'"‘]
    (?<owner>[^'"’\x60\n]{1,80})['"’\x60]`,
  pattern`value of type '(?<owner>[^'\n]{1,80})' has no (?:dynamic )?member '(?<member>NAME)'`,
  pattern`'(?<owner>NAME)' does not contain a definition for '(?<member>NAME)'`,
  pattern`no (?:method|field|function or associated item)(?: named)? \x60(?<member>NAME)\x60 (?:found|on)
    \b[^\x60\n]{0,60}\x60(?<owner>[^\x60\n]{1,80})\x60`,
  pattern`\.(?<member>\w{1,80}) undefined \(type (?<owner>NAME) has no`,
  pattern`'(?<owner>[^'\n]{1,80})' has no member named '(?<member>NAME)'`,
  pattern`"(?<owner>NAME)" has no attribute "(?<member>NAME)"`,
  pattern`(?:Unresolved reference:?|undefined:|Cannot find name|use of undeclared
     (?:identifier|type)|[Uu]ndefined name|cannot find type) ['"\x60‘]?(?<unresolved>NAME)(?<![.:])`,
  pattern`cannot find ['\x60](?<unresolved>NAME)['\x60] in scope`,
  pattern`cannot find (?:value|function|type|macro|struct|trait)[\w, /]{0,40} \x60
    (?<unresolved>NAME)\x60 in this`,
  pattern`['\x60‘"](?<unresolved>NAME)['\x60’"]
     (?:was not declared in this scope|is not defined|does not exist in the current context)`,
  /^\s{0,8}(?:\[ERROR\] {1,6})?symbol: {1,6}(?:class|variable|method|static) (?<unresolved>[\w.]{1,80})/,
  pattern`(?:[Ii]nvalid redeclaration of|redefinition of|Redeclaration:|Duplicate identifier|duplicate class:) ['"\x60‘]?(?<twice>NAME)(?:\([^)\n]{0,80}\))?`,
  pattern`(?<twice>\w{1,80}) redeclared in this block`,
  /[Tt]ype '(?<given>[^'\n]{1,80})' is not assignable to (?:type|parameter of type) '(?<wanted>[^'\n]{1,80})'/,
  /\(got "(?<given>[^"\n]{1,80})", expected "(?<wanted>[^"\n]{1,80})"\)/,
  /has incompatible type "(?<given>[^"\n]{1,80})"; expected "(?<wanted>[^"\n]{1,80})"/,
  /incompatible types: (?<given>[\w.<>[\]?, ]{1,80}) cannot be converted to (?<wanted>[\w.<>[\]?, ]{1,80})/,
  /expected `(?<wanted>[^`\n]{1,80})`, found `(?<given>[^`\n]{1,80})`/,
  /\(\w{1,20} of type (?<given>[\w.*[\]]{1,80})\) as (?<wanted>[\w.*[\]]{1,80}) value/,
  pattern`['"\x60‘](?<unused>NAME)['"\x60’] (?:is )?(?:defined|declared|assigned a value|imported)
    \b.{0,30}? (?:but|and) (?:never|its value is never|unused|not)\b`,
  pattern`(?:declared and not used: |unused (?:import|variable):? \x60)(?<unused>NAME)`,
  pattern`Local variable [\x60'](?<unused>NAME)['\x60] is assigned to but never used`,
  /'(?<constant>\w{1,80})' is never reassigned\. Use 'const'/,
  /\[?import-untyped|[Ll]ibrary stubs not installed for ["'](?<stubs>[\w.-]{1,80})["']/,
  /[Mm]odule ['"]+(?<exporter>[^'"\n]{1,120})['"]+ has no exported member '?(?<exported>\w{1,80})/,
  /missing the following properties from type '[^'\n]{1,120}': (?<lacking>[\w, ]{1,99}?)(?:, and \d+ more)?\.?$/,
  /Property '(?<lacking>\w{1,80})' is missing in type .{1,300} but required in type/,
  /(?<conflict>Merge conflict marker encountered|version control conflict marker|encountered diff marker)/,
  /(?<unclosed>reached end of file while parsing|this file contains an unclosed delimiter)/,
  /unexpected closing delimiter: `(?<closing>[)\]}])`/,
  /type or namespace name '(?<unresolved>\w{1,80})' could not be found/,
  /name '(?<lost>\w{1,80})' does not exist in the namespace '(?<namespace>[^'\n]{1,120})'/,
  /(?<any>Unexpected any\. Specify a different type)/,
  /(?<importsFirst>imports are only allowed in the beginning of file)/,
  /(?<whitespace>Trailing whitespace)/i,
];

/** The advice for these messages. Each sentence names the place. */
export const SOURCE_FIXES: readonly Fix[] = [
  ['code', 'Fix the error at {place}; {tool} suggests `{suggestion}`.'],
  ['code', 'Export `{exported}` from {exporter}, or correct the import at {place}.'],
  ['code', 'Resolve the merge conflict at {place}: “{conflict}”.'],
  ['code', 'Add {lacking} to the value at {place}, or make what is missing optional in the type.'],
  ['code', 'Close the block or delimiter that is still open at {place}: “{unclosed}”.'],
  ['code', 'Commit the source of `{lost}` in {namespace}, which {place} uses, or add a reference to it.'],
  ['code', 'Remove the unmatched `{closing}` at {place}, or restore what it should close.'],
  ['code', '{any?}Replace `any` at {place} with a specific type.'],
  ['dependency', 'Install the type stubs for {stubs}, or tell the type checker to ignore its missing types.'],
  ['code', 'At {place}, use an existing member of {owner}, or add `{member}` to it.'],
  ['code', 'At {place}, import or define `{unresolved}`, or correct its spelling.'],
  ['code', 'Remove or rename one of the declarations of `{twice}`; one is at {place}.'],
  ['code', 'Change the value at {place} from {given} to {wanted}, or correct the declared type.'],
  ['code', 'Remove `{unused}` at {place}, or use it.'],
  ['code', 'Declare `{constant}` with `const` at {place}.'],
  [
    'code',
    (read) =>
      read('importsFirst') && read('place') && `Move the import at ${read('place')} to the top of the file.`,
  ],
  [
    'code',
    (read) => read('whitespace') && read('place') && `Remove the trailing whitespace at ${read('place')}.`,
  ],
];
