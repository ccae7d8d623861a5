import type { Fix } from './sentence.ts';

const PATH = String.raw`(?:[\w@.+-]{1,80}\/){0,12}[\w@+-][\w@.+-]{0,80}\.\w{1,8}`;
const VERSION = String.raw`v?\d{1,6}[\w.+*-]{0,30}`;
const AMOUNT = String.raw`\d[\d.,]{0,12} ?(?:[kKMGT]i?[bB]|bytes|%|ms|s|seconds|minutes)`;
const pattern = (source: string) =>
  new RegExp(source.replaceAll('PATH', PATH).replaceAll('VERSION', VERSION).replaceAll('AMOUNT', AMOUNT));

/**
 * Offers that failing tools of all kinds make in nearly the same words: the word they take for the right one,
 * the values they support, the version they need. Read on the deciding line and below it, up to the next
 * finding.
 */
export const OFFER_READS: readonly RegExp[] = [
  // These patterns match a suggestion for a misspelled name, and the name that was given.
  /\b(?:[Dd]id you mean|[Pp]erhaps you meant|[Mm]aybe you meant):? (?:to (?:use|write) )?(?:one of )?['"`‘](?<suggestion>[\w@./$:-]{2,80})['"`’]/,
  /\b(?:a|the most) similar [\w ]{1,30} (?:exists|is):? ['"`‘]?(?<suggestion>[\w@./$:-]{2,80})/,
  /\b(?:[Uu]nknown|[Ii]nvalid|[Uu]nsupported|[Uu]nrecognized|[Uu]nexpected|[Ii]llegal) (?:[\w-]{1,20} ){0,2}(?:value |choice:? )?['"`‘](?<mistaken>[^'"`’\n]{1,60})['"`’]/,
  // The values that are allowed.
  /\b(?:allowed|supported|valid|possible|available|permitted) (?:values|options|choices|commands|names)(?: are)?:? \[?(?<allowedValues>[^\]:\n]{3,120})/i,
  /\binvalid choice: .{1,80} \(choose from (?<allowedValues>[^)\n]{3,120})\)/,
  /\bunknown (?:variant|field) [`'"][^`'"\n]{1,60}[`'"], expected one of (?<allowedValues>[^\n]{3,120}?)(?: at line .{1,40})?$/,
  /\bmust be one of:? \[?(?<allowedValues>[^\]:\n]{3,120})/i,
  // A tool's version.
  pattern(
    String.raw`\b(?:requires?|needs?) (?!version\b|at\b|least\b)(?<needed>[A-Za-z][\w.+-]{1,30}),? (?:version )?(?:>= ?)?(?<neededVersion>VERSION) or (?:newer|later|higher|above|greater)\b`,
  ),
  pattern(
    String.raw`\b(?:requires?|needs?) (?!version\b|at\b|least\b)(?<needed>[A-Za-z][\w.+-]{1,30}),? (?:version )?>= ?(?<neededVersion>VERSION)\b`,
  ),
  pattern(
    String.raw`\b(?:found|have|has|got|installed|running|detected|current(?: version)?(?: is)?):? (?:[A-Za-z][\w.+-]{1,30} )?(?:version )?(?<hadVersion>v?\d{1,6}(?:\.\d[\w+-]{0,30}){1,4})`,
  ),
  pattern(String.raw`\bnearest (?:published |available |matching )?version(?: is|:) (?<published>VERSION)\b`),
  // What the tool mends itself.
  /\b(?<mendable>[1-9]\d{0,5}) (?:errors?|problems?|findings?|warnings?)(?: and \d{1,6} warnings?)? (?:are |is )?(?:potentially |automatically )?fixable with (?:the )?[`'"]?(?<mendOption>--?[a-z][\w-]{1,30})/,
  // A permission.
  /\b(?:needs?|requires?|lacks?|missing|without)(?: the)?(?: permissions?| scopes?| role)? ['"`]?(?!\S{1,80}\.(?:txt|json|ya?ml|toml|lock|cfg|ini|md|[cm]?[jt]sx?|py|rb|go|rs)\b)(?<permission>[a-z][\w-]{1,40}(?:[:.][\w*-]{1,40}){1,3})['"`]?(?: permissions?| scopes?| role)?$/,
  /\bnot authorized to perform:? (?<permission>[a-z][\w-]{1,40}:[\w*]{1,60})/,
  /\b(?:token|role|account|user|key) (?:only )?has ['"`]?(?<granted>[a-z][\w-]{1,40}(?:[:.][\w*-]{1,40}){1,3})\b/,
  /\bPermission ['"](?<permission>[a-z][\w-]{1,40}(?:[:.][\w*-]{1,40}){1,3})['"] denied\b/,
  // A setting that a file lacks, and what another setting needs.
  /\b(?<setting>[A-Z][A-Z0-9_]{3,60}) is (?:missing|not set|required) in (?<settings>[\w@./-]{2,120}\w)/,
  /^(?<setTo>[A-Z][A-Z0-9_]{2,60}=\w{1,20}) requires (?<neededFor>[\w.+-]{2,60})\b/,
  // A name that the project does not define.
  /\b(?:[Cc]ould not find|[Uu]nknown|[Nn]o such) (?<sort>task|target|profile) [`'"](?<undefinedName>[\w:.@/-]{1,80})[`'"]/,
  // An address on which nothing answered in time.
  /[Tt]imed out waiting for:? (?<awaited>(?:https?|tcp):(?:\/\/)?(?:localhost|127\.0\.0\.1):\d{2,5})/,
  // What is not ready yet, and the script of an action.
  /(?<notReady>\b[\w.-]{3,80}) (?:container |service |server )?is not (?:yet )?ready\b/,
  /\/_actions\/(?<action>[\w.-]{1,60}\/[\w.-]{1,80})\/(?<actionVersion>[\w.-]{1,40})\/\S{1,160}: line \d/,
  // What a page has to wrap.
  /(?<hook>\buse\w{2,60}\(\)) should be wrapped in a (?<wrapper>[\w ]{3,40}) at page "(?<page>[^"\n]{1,99})"/,
  // Two versions of one package.
  /version of ["'](?<paired>[@\w./-]{2,80})["'].{0,40}\b[Ee]xpected ["']\d/,
  /\b[Ee]xpected ["'](?<pairedVersion>\d[\w.+-]{0,30})["'],? but (?:found|got) ["'](?<presentVersion>\d[\w.+-]{0,30})["']/,
  // Two spellings of one file.
  pattern(
    String.raw`\bfound ['"]?(?<misnamed>PATH)['"]?,? (?:but )?(?:expected|wanted|needed) ['"]?(?<named>PATH)`,
  ),
  pattern(String.raw`\bexpected ['"]?(?<named>PATH)['"]?,? (?:but )?(?:found|got) ['"]?(?<misnamed>PATH)`),
  // Something whose content is not what it was.
  pattern(String.raw`^\s{0,12}(?<archive>PATH): .{0,120}\b(?:sha\d{0,3}|checksum|hash|digest|integrity)\b`),
  /\bverifying (?<archive>[\w./-]{3,120}@v[\w.+-]{1,60}): checksum mismatch/,
  /\b[Ii]ntegrity check failed for "(?<archive>[^"\n]{2,120})"/,
  // A size over its limit.
  pattern(
    String.raw`(?:^|\s)(?<heavy>PATH) (?:weighs|is|has|takes|uses) (?<measured>AMOUNT)\b.{0,60}\b(?:limit|maximum|budget)\b.{0,40}?(?<most>AMOUNT)`,
  ),
];

/** Advice about offers, the most specific first; asked of failures that no row has a sentence for. */
export const OFFER_FIXES: readonly Fix[] = [
  ['code', 'Use `{suggestion}` instead of `{mistaken}`.'],
  ['code', 'Use one of the supported values instead of `{mistaken}`: {allowedValues}.'],
  ['code', 'Use one of the supported values: {allowedValues}.'],
  ['configuration', 'Upgrade {needed} from {hadVersion} to {neededVersion} or newer.'],
  ['configuration', 'Use {needed} {neededVersion} or newer.'],
  ['dependency', 'Use version {published}, the nearest published version.'],
  ['code', mendByCommand],
  [
    'code',
    'Run the linter with `{mendOption}` and commit the result; this fixes {mendable} of the findings.',
  ],
  ['configuration', 'Add {setting} to {settings}.'],
  ['configuration', 'Install {neededFor} in the job before this step, or change {setTo}.'],
  ['configuration', defineName],
  ['configuration', "Check that the job's server started and is listening on {awaited}."],
  ['configuration', 'Make the job wait until {notReady} is ready before the step continues.'],
  ['configuration', 'Check the inputs of {action}, or use a release other than {actionVersion}.'],
  ['code', 'On the page {page}, wrap the component that calls {hook} in a {wrapper}.'],
  ['dependency', 'Install {paired} {pairedVersion} instead of {presentVersion}.'],
  ['ask', 'Grant {permission} to the identity that the job uses, which has {granted}.'],
  ['ask', 'Grant {permission} to the identity that the job uses.'],
  ['code', renameFile],
  ['configuration', createPath],
  [
    'dependency',
    'Compare {archive} with the checksum that its publisher provides, and update the recorded ' +
      'checksum only if they match.',
  ],
  ['code', 'Reduce {heavy} from {measured} to {most}, or raise the limit if the growth is intended.'],
  ['code', 'Fix {listed}: “{complaint}”.'],
];

/** Programs that start others: an option that is added to their call is not the linter's. */
const STARTERS =
  /^(?:npm|pnpm|yarn|bun|make|just|task|tox|nox|mvn|gradle|docker|(?:ba)?sh|python3?|poetry|uv|\.{0,2}\/)(?![\w-])/;

/** Writes the linter's own call with its option to correct findings. */
function mendByCommand(read: (slot: string) => string | null): string | null {
  const [command, option, count] = [read('command'), read('mendOption'), read('mendable')];
  if (command === null || option === null || count === null || Number(count) === 0 || STARTERS.test(command))
    return null;
  return `Run \`${command} ${option}\` and commit the result; this fixes ${count} of the findings.`;
}

/** Finds two names that differ only in upper and lower case. */
function renameFile(read: (slot: string) => string | null): string | null {
  const [misnamed, named] = [read('misnamed'), read('named')];
  if (
    misnamed === null ||
    named === null ||
    misnamed === named ||
    misnamed.toLowerCase() !== named.toLowerCase()
  )
    return null;
  return `Rename ${misnamed} to ${named}, or correct the name where it is used; the two differ only in case.`;
}

/** Finds a name that the project does not define and that the step's own command asks for. */
function defineName(read: (slot: string) => string | null): string | null {
  const [sort, name, command] = [read('sort'), read('undefinedName'), read('command')];
  if (sort === null || name === null || command?.split(/[\s=]/).includes(name) !== true) return null;
  return `Define the ${sort} ${name}, or remove it from \`${command}\`.`;
}

/** Finds a path that does not exist and that the step's own command names. */
function createPath(read: (slot: string) => string | null): string | null {
  const [path, command] = [read('path'), read('command')];
  if (path === null || command === null || !command.split(/[\s=]/).includes(path)) return null;
  return `Create or commit ${path} before \`${command}\` runs, or correct the path in that command.`;
}
