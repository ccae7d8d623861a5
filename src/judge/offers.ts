import { getProjectPath } from '../log/paths.ts';
import type { Fix } from './sentence.ts';

const PATH = String.raw`(?:[\w@.+-]{1,80}\/){0,12}[\w@+-][\w@.+-]{0,80}\.\w{1,8}`;
/** A path with a file extension that hosts and modules do not have. */
const FILE = String.raw`(?![\w@./+-]{0,200}\.\w{1,5}\/)(?:[\w@.+-]{1,80}\/){0,12}[\w@.+-]{1,80}\.(?:[cm]?[jt]sx?|json5?|ya?ml|toml|sh|py|rb|go|rs|java|kts?|gradle|xml|html?|css|mdx?|txt|lock|cfg|conf|ini|env|sql|proto|plist|tf|zip|tgz|gz|jar|whl|apk|ipa|pem|csv|cmake|sln|csproj|ps1)(?![\w/])`;
const CHECKOUT = String.raw`(?:\/(?:home|Users)\/runner\/work\/[\w.-]{1,80}\/[\w.-]{1,80}\/)?`;
const VERSION = String.raw`v?\d{1,6}[\w.+*-]{0,30}`;
const AMOUNT = String.raw`\d[\d.,]{0,12} ?(?:[kKMGT]i?[bB]|bytes|%|ms|s|seconds|minutes)`;
const SORT =
  '(?:[Pp](?:reset|lugin|ackage|rofile)|[Cc]rate|[Gg]em|[Ee]xtension|[Ss]cheme|[Tt](?:emplate|arget)|[Bb]ucket)';
const NAME = String.raw`(?![./~]|@\/|(?:in|at|for|with|that|named?|is|was)\b)[@\w][\w@./:-]{0,78}\w`;
const CANNOT = "(?:[Cc]annot|[Cc]ould not|[Cc]ouldn't|[Uu]nable to|[Ff]ailed to)";
const QUOTE = String.raw`['"\x60]?`;
const PARTS = Object.entries({ CANNOT, QUOTE, SORT, NAME, PATH, FILE, CHECKOUT, VERSION, AMOUNT });
const pattern = ({ raw }: TemplateStringsArray) =>
  new RegExp(
    PARTS.reduce((text, [name, parts]) => text.replaceAll(name, parts), raw[0]?.replace(/\n {4}/g, '') ?? ''),
  );

/**
 * Suggestions that tools make in similar words: the name that may be meant, the supported values, the
 * required version. They are read on the deciding line and below it, up to the next finding.
 */
export const OFFER_READS: readonly RegExp[] = [
  // A suggestion for a misspelled name, and the name that was given.
  /\b(?:[Dd]id you mean|[Pp]erhaps you meant|[Mm]aybe you meant):? (?:to (?:use|write) )?(?:one of )?['"`‘](?<suggestion>[\w@./$:-]{2,80})['"`’]/,
  /\b(?:a|the most) similar [\w ]{1,30} (?:exists|is):? ['"`‘]?(?<suggestion>[\w@./$:-]{2,80})/,
  /\b(?:[Uu]nknown|[Ii]nvalid|[Uu]nsupported|[Uu]nrecognized|[Uu]nexpected|[Ii]llegal) (?:[\w-]{1,20} ){0,2}(?:value |choice:? )?['"`‘](?<mistaken>[^'"`’\n]{1,60})['"`’]/,
  /[`'"](?<mistaken>[\w@./$:-]{2,80})[`'"] should be [`'"](?<suggestion>[\w@./$:-]{2,80})[`'"]/,
  // The allowed values
  /\b(?:allowed|supported|valid|possible|available|permitted) (?:values|options|choices|commands|names)(?: are)?:? \[?(?<allowedValues>[^\]:\n]{3,120})/i,
  /\binvalid choice: .{1,80} \(choose from (?<allowedValues>[^)\n]{3,120})\)/,
  /\bunknown (?:variant|field) [`'"][^`'"\n]{1,60}[`'"], expected one of (?<allowedValues>[^\n]{3,120}?)(?: at line .{1,40})?$/,
  /\bmust be one of:? \[?(?<allowedValues>[^\]:\n]{3,120})/i,
  // The required version of a tool
  pattern`\b(?:requires?|needs?) (?!version\b|at\b|least\b)(?<needed>[A-Za-z][\w.+-]{1,30}),? (?:version )?
    (?:>= ?)?(?<neededVersion>VERSION) or (?:newer|later|higher|above|greater)\b`,
  pattern`\b(?:requires?|needs?) (?!version\b|at\b|least\b)(?<needed>[A-Za-z][\w.+-]{1,30}),?
     (?:version )?>= ?(?<neededVersion>VERSION)\b`,
  pattern`\b(?:found|have|has|got|installed|running|detected|current(?: version)?(?: is)?):?
     (?:[A-Za-z][\w.+-]{1,30} )?(?:version )?(?<hadVersion>v?\d{1,6}(?:\.\d[\w+-]{0,30}){1,4})`,
  pattern`^\W{0,8}(?<needed>[A-Z][\w.+-]{1,30}) (?<hadVersion>v?\d{1,6}(?:\.\d[\w+-]{0,30}){1,4}) is (?:not supported|too old)\b`,
  pattern`\bto a supported version: ["'\x60]?[\^~>= ]{0,3}(?<neededVersion>VERSION)`,
  pattern`\bnearest (?:published |available |matching )?version(?: is|:) (?<published>VERSION)\b`,
  pattern`\brequires (?<needed>[a-z]{2,20}) [\^~>=]{1,2} ?
    (?<neededVersion>VERSION) but your [a-z]{2,20} version \((?<hadVersion>VERSION)\)`,
  pattern`\bengine "(?<needed>\w{2,20})" is incompatible.{0,60}Expected version "[\^~>= ]{0,3}
    (?<neededVersion>VERSION)[^"]{0,60}"\. Got "(?<hadVersion>VERSION)"`,
  pattern`\bcurrent (?:[A-Z]\w{1,20} ){1,3}version is (?<hadVersion>VERSION)`,
  // The number of findings that the tool can fix
  /\b(?<fixableCount>[1-9]\d{0,5}) (?:errors?|problems?|findings?|warnings?)(?: and \d{1,6} warnings?)? (?:are |is )?(?:potentially |automatically )?fixable with (?:the )?[`'"]?(?<fixOption>--?[a-z][\w-]{1,30})/,
  // A missing permission
  /\b(?:needs?|requires?|lacks?|missing|without)(?: the)?(?: permissions?| scopes?| role)? ['"`]?(?!\S{1,80}\.(?:txt|json|ya?ml|toml|lock|cfg|ini|md|[cm]?[jt]sx?|py|rb|go|rs)\b)(?<permission>[a-z][\w-]{1,40}(?:[:.][\w*-]{1,40}){1,3})['"`]?(?: permissions?| scopes?| role)?$/,
  /\bnot authorized to perform:? (?<permission>[a-z][\w-]{1,40}:[\w*]{1,60})/,
  /\b(?:token|role|account|user|key) (?:only )?has ['"`]?(?<granted>[a-z][\w-]{1,40}(?:[:.][\w*-]{1,40}){1,3})\b/,
  /\bPermission ['"](?<permission>[a-z][\w-]{1,40}(?:[:.][\w*-]{1,40}){1,3})['"] denied\b/,
  // A setting that is missing in a file or required by another setting
  /\b(?<setting>[A-Z][A-Z0-9_]{3,60}) is (?:missing|not set|required) in (?<settings>[\w@./-]{2,120}\w)/,
  /^(?<setTo>[A-Z][A-Z0-9_]{2,60}=\w{1,20}) requires (?<neededFor>[\w.+-]{2,60})\b/,
  // A name in a settings file that its reader does not know
  pattern`\b(?:[Uu]nknown|[Uu]nrecognized|[Uu]nexpected|[Ii]nvalid|[Uu]nsupported)
     (?:key|property|field|attribute|setting|input|option)s?:? QUOTE(?<mistakenKey>[\w.-]{2,60})QUOTE
     (?:found )?in QUOTE(?<configFile>PATH)`,
  // A missing column or table
  /\bcolumn "(?<absentColumn>\w{1,80})" of relation "(?<table>\w{1,80})" does not exist/,
  /\bnull value in column "(?<column>\w{1,80})" of relation "(?<table>\w{1,80})"/,
  /\bNOT NULL constraint failed: (?<table>\w{1,80})\.(?<column>\w{1,80})/,
  /\bColumn '(?<column>\w{1,80})' cannot be null/,
  /(?<!\bof )\brelation "(?<absentTable>[\w.]{1,80})" does not exist/,
  /\bno such table: (?<absentTable>[\w.]{1,80})/,
  /\bTable '(?<absentTable>[\w.]{1,80})' doesn't exist/,
  // A file that another one imports by a relative path
  pattern`(?:[Cc]ould not resolve|[Cc]an't resolve|[Cc]annot
     (?:resolve|find module)|[Ff]ailed to resolve import) ['"](?<ownImport>\.{1,2}\/[\w@./-]{1,160})['"]
     (?:in|from|imported (?:by|from)) ['"]?(?<importer>PATH)`,
  pattern`[Ff]ailed to load url
     (?<ownImport>\.{1,2}\/[\w@./-]{1,160}) \(resolved id: [^)\n]{1,200}\) in CHECKOUT(?<importer>FILE)`,
  // A file that a tool must read, or that a check requires
  pattern`CANNOT (?:find|locate|open|load|read)(?:
     (?:the|any|an?|valid|candidate|specified|required|given|config|configuration|input|source|cross|template|schema|data|env|for)){0,6} (?:files?|resource):? QUOTECHECKOUT(?<absentFile>PATH)(?![\w/])`,
  pattern`CANNOT find QUOTE(?<absentFile>PATH)(?![\w.+-])QUOTE(?! \([\w.-]{1,80}:)(?: file)?(?: in QUOTE(?<absentIn>[\w@./-]{2,120}))?`,
  pattern`\b[Ff]ile ['"\x60](?<absentFile>PATH)['"\x60] (?:provided )?(?:was|could) not (?:be )?found`,
  pattern`(?:^|[\s'"\x60])(?<absentFile>FILE)QUOTE:? (?:was |is |could |does )?(?:not (?:be )?found
    \b|not exist\b|missing(?=$|[.,;:!]))`,
  pattern`\b[Mm]issing (?:required |expected )?(?:file|script|document): QUOTE(?<absentFile>FILE)`,
  pattern`(?:^|\s)(?<absentFile>PATH) is required for \S`,
  // A missing thing, named together with its sort
  pattern`\b(?<absentSort>SORT) QUOTE(?<absentName>NAME)QUOTE (?:was |is |could |does )?(?:not
     (?:be )?found|not exist|not installed|not defined)\b`,
  pattern`\bCANNOT (?:find|locate|load|resolve) (?:the |an? )?(?<absentSort>SORT):? QUOTE
    (?<absentName>NAME)QUOTE(?=$|[\s.,;:])`,
  // A generated file that is out of date
  pattern`(?:^|[\s'"\x60])(?<staleFile>FILE)QUOTE (?:is|are) (?:out[ -]of[ -]
    (?:date|sync)|not up[ -]to[ -]date|outdated|stale)\b`,
  // A missing package, type package, image, or project in a folder
  /\bModule (?<absentModule>[@\w./-]{2,80}) in the \w{1,30} option was not found/,
  /couldn't find the (?:config|plugin) ['"](?<absentModule>[@\w./-]{2,80})['"]/,
  /Cannot find type definition file for '(?<absentTypes>[@\w./-]{1,80})'/,
  /failed to solve: (?<absentImage>[\w./-]{2,120}:[\w.-]{1,80}): .{0,200}not found$/,
  /(?<noProject>does not appear to be a Python project)/,
  // What a command or program requires
  /the following (?:required )?arguments are required: (?<demandedArguments>[-\w, <>]{2,80})/,
  /required option '(?<demandedArguments>-{1,2}[^'\n]{2,60})' not specified/,
  /^(?:Error: )?(?<demandedValue>[A-Za-z_]\w{2,60}) is required\.?$/,
  // Changed files that are not committed
  pattern`(?<uncommitted>changes that were not yet committed|[Uu]ncommitted changes|
    [Ww]orking (?:tree|directory) (?:is )?(?:not clean|dirty))`,
  // Something that is already published, and a protected branch
  /[Ff]ile already exists \(['"](?<publishedFile>[\w.+-]{3,120})/,
  /(?<takenTag>tag_name[ _]already[ _]exists)/,
  /Protected branch update failed for refs\/heads\/(?<protectedBranch>[\w./-]{1,80}\w)/,
  // A module that mypy cannot find
  /Cannot find implementation or library stub for module named "(?<unseenModule>[\w.]{1,80})"/,
  // A rule for commit messages, a size limit, and a simulator
  /\[(?<commitRule>(?:subject|type|header|body|footer|scope)-[a-z-]{3,30})\]$/,
  pattern`\b[Ll]imit (?:has |was )?(?:been )?exceeded by (?<excess>AMOUNT)`,
  /\bname:(?<simulator>[\w .()-]{3,40}?) \}/,
  // A property that a build script uses
  /Could not get unknown property '(?<unknownProperty>\w{1,80})'/,
  // A name that the project does not define
  /\b(?:[Cc]ould not find|[Uu]nknown|[Nn]o such) (?<sort>task|target|profile) [`'"](?<undefinedName>[\w:.@/-]{1,80})[`'"]/,
  // An address that did not answer in time
  /[Tt]ime(?:d ?)?out waiting for:? (?<awaited>(?:https?|tcp):(?:\/\/)?(?:localhost|127\.0\.0\.1):\d{2,5})/,
  // Something that is not ready yet, and the script of an action
  /(?<notReady>\b[\w.-]{3,80}) (?:container |service |server )?is not (?:yet )?ready\b/,
  /\/_actions\/(?<action>[\w.-]{1,60}\/[\w.-]{1,80})\/(?<actionVersion>[\w.-]{1,40})\/\S{1,160}: line \d/,
  // A wrapper that a page needs
  /(?<hook>\buse\w{2,60}\(\)) should be wrapped in a (?<wrapper>[\w ]{3,40}) at page "(?<page>[^"\n]{1,99})"/,
  // Two versions of one package
  /version of ["'](?<paired>[@\w./-]{2,80})["'].{0,40}\b[Ee]xpected ["']\d/,
  /\b[Ee]xpected ["'](?<pairedVersion>\d[\w.+-]{0,30})["'],? but (?:found|got) ["'](?<presentVersion>\d[\w.+-]{0,30})["']/,
  // Two spellings of one file
  pattern`\bfound ['"]?(?<misnamed>PATH)['"]?,? (?:but )?(?:expected|wanted|needed) ['"]?(?<named>PATH)`,
  pattern`\bexpected ['"]?(?<named>PATH)['"]?,? (?:but )?(?:found|got) ['"]?(?<misnamed>PATH)`,
  // Something whose content has changed
  pattern`^\s{0,12}(?<archive>PATH): .{0,120}\b(?:sha\d{0,3}|checksum|hash|digest|integrity)\b`,
  /\bverifying (?<archive>[\w./-]{3,120}@v[\w.+-]{1,60}): checksum mismatch/,
  /\b[Ii]ntegrity check failed for "(?<archive>[^"\n]{2,120})"/,
  // A size above its limit
  pattern`(?:^|\s)(?<heavy>PATH) (?:weighs|is|has|takes|uses) (?<measured>AMOUNT)\b.{0,60}\b
    (?:limit|maximum|budget)\b.{0,40}?(?<most>AMOUNT)`,
];

/**
 * Advice based on suggestions, most specific first. It is used for failures for which no rule has a sentence.
 */
export const OFFER_FIXES: readonly Fix[] = [
  ['code', 'Use `{suggestion}` instead of `{mistaken}`.'],
  ['code', 'Use one of the supported values instead of `{mistaken}`: {allowedValues}.'],
  ['code', 'Use one of the supported values: {allowedValues}.'],
  ['configuration', 'Upgrade {needed} from {hadVersion} to {neededVersion} or newer.'],
  ['configuration', 'Use {needed} {neededVersion} or newer.'],
  ['dependency', 'Use version {published}, the nearest published version.'],
  ['code', adviseLinterFix],
  [
    'code',
    'Run the linter with `{fixOption}` and commit the result; this fixes {fixableCount} of the findings.',
  ],
  ['configuration', 'Add {setting} to {settings}.'],
  ['configuration', 'Install {neededFor} in the job before this step, or change {setTo}.'],
  ['configuration', adviseDefineName],
  ['dependency', 'Raise the version before it is published again, because {publishedFile} exists already.'],
  ['configuration', '{takenTag?}Use a new tag for the release, or edit the release that has this tag.'],
  ['configuration', 'Push to another branch, or let the job bypass the protection of {protectedBranch}.'],
  ['code', 'Reword the commit message so that it meets the rule {commitRule}.'],
  ['code', 'Reduce the size by {excess}, or raise the limit if the growth is intended.'],
  ['configuration', 'Choose a simulator that the runner has instead of {simulator}.'],
  ['code', adviseDefineProperty],
  ['configuration', 'Correct or remove `{mistakenKey}` in {configFile}.'],
  ['code', 'Give `{column}` a value in every row that is inserted into `{table}`, or allow NULL there.'],
  ['code', 'Give `{column}` a value in every row that is inserted, or allow NULL there.'],
  ['configuration', 'Run the migration that adds `{absentColumn}` to `{table}` before this step.'],
  ['configuration', 'Run the migration that creates the table `{absentTable}` before this step.'],
  ['code', 'Commit the file that {importer} imports as `{ownImport}`, or correct the import.'],
  ['configuration', 'Add {absentFile} to {absentIn}, or correct the path.'],
  ['configuration', 'Create or commit {absentFile} before this step, or correct its path.'],
  ['configuration', adviseProvideNamed],
  ['code', 'Generate {staleFile} again and commit it.'],
  ['dependency', 'Declare and install {absentModule}, or correct its name in the configuration.'],
  ['dependency', 'Install the package that has the types {absentTypes}, or remove them from the options.'],
  [
    'dependency',
    'Install {unseenModule} in the job that runs mypy, or let mypy ignore the import if the module has ' +
      'no types.',
  ],
  ['configuration', 'Use an image that exists instead of {absentImage}.'],
  ['configuration', '{noProject?}Run the install in the folder that has `pyproject.toml` or `setup.py`.'],
  ['configuration', 'Call the command with the arguments that it requires: {demandedArguments}.'],
  ['configuration', 'Provide a value for `{demandedValue}`, which the program requires.'],
  ['configuration', '{uncommitted?}Commit {listed} before this step runs, or discard the changes.'],
  ['configuration', "Check that the job's server started and is listening on {awaited}."],
  ['configuration', 'Make the job wait until {notReady} is ready before the step continues.'],
  ['configuration', 'Check the inputs of {action}, or use a release other than {actionVersion}.'],
  ['code', 'On the page {page}, wrap the component that calls {hook} in a {wrapper}.'],
  ['dependency', 'Install {paired} {pairedVersion} instead of {presentVersion}.'],
  ['ask', 'Grant {permission} to the identity that the job uses, which has {granted}.'],
  ['ask', 'Grant {permission} to the identity that the job uses.'],
  ['code', adviseRename],
  ['configuration', adviseCreatePath],
  [
    'dependency',
    'Compare {archive} with the checksum that its publisher provides, and update the recorded ' +
      'checksum only if they match.',
  ],
  ['code', 'Reduce {heavy} from {measured} to {most}, or raise the limit if the growth is intended.'],
  ['code', 'Fix {listed}: “{complaint}”.'],
];

/** Programs that run others. An option added to their command is not passed to the linter. */
const STARTERS =
  /^(?:npm|pnpm|yarn|bun|make|just|task|tox|nox|mvn|gradle|docker|(?:ba)?sh|python3?|poetry|uv|\.{0,2}\/)(?![\w-])/;

/** Returns advice to run the linter with its option to fix findings, or null. */
function adviseLinterFix(read: (slot: string) => string | null): string | null {
  const [command, option, count] = [read('command'), read('fixOption'), read('fixableCount')];
  if (command === null || option === null || count === null || Number(count) === 0 || STARTERS.test(command))
    return null;
  return `Run \`${command} ${option}\` and commit the result; this fixes ${count} of the findings.`;
}

/** Returns advice to rename a file if two names differ only in case, or null. */
function adviseRename(read: (slot: string) => string | null): string | null {
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

/** Returns advice to define a name that the step's own command uses, or null. */
function adviseDefineName(read: (slot: string) => string | null): string | null {
  const [sort, name, command] = [read('sort'), read('undefinedName'), read('command')];
  if (sort === null || name === null || command?.split(/[\s=]/).includes(name) !== true) return null;
  return `Define the ${sort} ${name}, or remove it from \`${command}\`.`;
}

/** Returns advice to install or define something that the log names with its sort, or null. */
function adviseProvideNamed(read: (slot: string) => string | null): string | null {
  const [sort, name] = [read('absentSort')?.toLowerCase() ?? null, read('absentName')];
  if (sort === null || name === null) return null;
  const act = /^(?:preset|plugin|package|crate|gem|extension)$/.test(sort) ? 'Declare and install' : 'Define';
  return `${act} the ${sort} ${name}, or correct its name.`;
}

/** Returns advice to define a property that a build script uses, with the line that uses it, or null. */
function adviseDefineProperty(read: (slot: string) => string | null): string | null {
  const [property, script, line] = [read('unknownProperty'), read('buildScript'), read('buildLine')];
  if (property === null || script === null || line === null) return null;
  return `Define the property \`${property}\`, or correct its name at ${getProjectPath(script)}:${line}.`;
}

/** Returns advice to create a missing path that the step's own command names, or null. */
function adviseCreatePath(read: (slot: string) => string | null): string | null {
  const [path, command] = [read('path'), read('command')];
  if (path === null || command === null || !command.split(/[\s=]/).includes(path)) return null;
  return `Create or commit ${path} before \`${command}\` runs, or correct the path in that command.`;
}
