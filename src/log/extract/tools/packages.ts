import { INDENTED, type Tool } from './diagnostics.ts';

/**
 * The code that npm repeats before each line. System calls, paths and numbers follow it; they are not a
 * message.
 */
const NPM_CODE = String.raw`(?:(?:E\w{2,40}|e\w{2,40}|notsup|engine|network|404|code) )?`;
const NPM_MESSAGE = new RegExp(
  '^npm (?:ERR!|error) (?!(?:errno|syscall|path|command|dest|signal|type|code) )' +
    `(?!${NPM_CODE}(?:syscall|path|errno|command|dest|signal|While resolving|Found:|type|code|` +
    String.raw`E\w{2,30}$|Unsupported engine$))${NPM_CODE}(?<said>\S.{0,500})$`,
);

const npmLine = /^npm (?:ERR!|error)(?![\s\S]{0,2000}(?:complete log|_logs\/))/;
const indentedOrBlank = /^(?=[\s\S]{0,399}$)(?:\s{2,200}\S|$)/;
const becauseBelow = /^\s{1,20}\S|^$|^(?:So,|And|Because|version solving)/;

/** Package managers of languages and operating systems. */
// biome-ignore format: one row for each shape
export const PACKAGE_MANAGERS: readonly Tool[] = [
  { tool: 'npm', literals: ['npm err!', 'npm error'], says: [
    { pattern: /^npm (?:ERR!|error) code (?<code>(?!ELIFECYCLE|1$)\w{1,60})/, weight: 80,
      messageBelow: NPM_MESSAGE, belongs: npmLine },
    { pattern: new RegExp(
        String.raw`^npm (?:ERR!|error) (?!A complete log|code |errno |path |command |\s{1,8}/|` +
        String.raw`Lifecycle script|Test failed|Exit status|missing script: $)(?<message>\S.{2,400})`,
      ), weight: 66, belongs: npmLine },
    { pattern: new RegExp(
        '^npm (?:ERR!|error) (?<message>Test failed.{0,100}|' +
        'code ELIFECYCLE|Lifecycle script.{0,200})',
      ), weight: 40, pointer: true, belongs: /^npm (?:ERR!|error)/ },
  ] },
  { tool: 'yarn', literals: [' yn00', 'error an unexpected', "error couldn't find", 'error your lockfile',
    'error found incompatible', 'error package ', 'the engine "', 'error https', 'usage error: ',
    'internal error: '], says: [
    { pattern: new RegExp(
        "^error (?!Command failed)(?<message>(?:An unexpected error|Couldn't find|Your lockfile|" +
        'Found incompatible|Package .{1,80} refers|https?:|.{1,80}: The engine).{0,400})',
      ), weight: 78 },
    { pattern: new RegExp(
        '^➤ (?<code>YN(?!0000|0013|0019|0002|0060|0086|0007|0008|0004|0005|0006|0061|' +
        String.raw`0062|0085)\d{4}): [│└┌ ]{0,8}(?<message>.{1,400})`,
      ), weight: 74 },
    { pattern: /^(?<message>(?:Usage|Internal) Error: .{1,400})/, weight: 76,
      belongs: /^\s{1,8}(?:at |\S)|^\$ yarn/ },
  ] },
  { tool: 'pnpm', literals: ['err_pnpm', 'elifecycle'], says: [
    { pattern: /^\s?(?:\[)?(?<code>ERR_PNPM_RECURSIVE_\w{1,40})\]?\s{1,4}(?<message>.{1,400})/, weight: 46,
      pointer: true },
    { pattern: /^\s?\[?(?<code>ERR_PNPM_\w{1,60})\]?\s{1,4}(?<message>.{1,400})/, weight: 80,
      belongs: /^(?=[\s\S]{0,399}$)(?:\s{2,200}\S|$|This error happened)/ },
    { pattern: /^\s?(?<message>ELIFECYCLE\s{1,4}Command failed.{0,100})/, weight: 40, pointer: true },
  ] },
  { tool: 'pip', literals: ['no matching distribution', 'could not find a version', 'resolutionimpossible',
    'error: could not', 'error: cannot install', 'error: cannot uninstall', 'error: failed building',
    'error: failed to build', 'error: command errored', 'error: package ', 'error: invalid requirement',
    'error: these packages', 'error: hash', "error: pip's dependency", 'error: exception', 'error: ignored',
    'did not run successfully', 'externally-managed-environment'], says: [
    { pattern: new RegExp(
        String.raw`^\s{0,8}ERROR: (?<message>(?:Could not|No matching|Cannot (?:un)?install|` +
        'ResolutionImpossible|Failed (?:building|to build)|Command errored|' +
        'Package .{1,100} requires|Invalid requirement|THESE PACKAGES|Hash|' +
        "pip's dependency|Exception|Ignored).{0,400})",
      ), weight: 80, belongs: /^(?=[\s\S]{0,499}$)(?:\s{2,20}\S|$|The conflict|ERROR: |To fix|\d\. )/ },
    { pattern: new RegExp(
        String.raw`^\s{0,8}(?<message>(?:Could not find a version that satisfies|` +
        'No matching distribution found for|× .{1,80} did not run successfully|' +
        'error: externally-managed-environment).{0,400})',
      ), weight: 78, belongs: /^\s{1,20}\S|^$/ },
  ] },
  { tool: 'setuptools', literals: ["error: command '", 'error: microsoft visual c++',
    'error: invalid command', "error: can't find rust"],
    says: [{ pattern: new RegExp(
      String.raw`^\s{0,8}error: (?<message>(?:command '.{1,200}' failed|Microsoft Visual C\+\+|` +
      "invalid command '|can't find Rust compiler).{0,300})",
    ), weight: 78 }] },
  { tool: 'poetry', literals: ['solverproblemerror', 'depends on ', 'pyproject.toml changed significantly',
    'poetry.lock'], says: [
    { pattern: /^\s{0,8}(?<message>SolverProblemError)$/, weight: 78, belongs: becauseBelow,
      messageBelow: /^\s{0,8}(?<said>Because .{1,400})/ },
    { pattern: /^\s{0,8}(?<message>Because .{1,200} depends on .{0,300})/, weight: 78,
      belongs: becauseBelow },
    { pattern: new RegExp(
        String.raw`^(?:Error: )?(?<message>(?:pyproject\.toml changed significantly since poetry\.lock|` +
        String.raw`poetry\.lock is not (?:up to date|consistent)).{0,200})`,
      ), weight: 80 },
  ] },
  { tool: 'uv', literals: ['no solution found', 'failed to build', 'error: failed to ', 'failed to download',
    'failed to fetch', 'failed to resolve', 'the lockfile at `uv.lock`', 'no `pyproject.toml`'], says: [
    { pattern: new RegExp(
        String.raw`^\s{0,8}(?:× |x )(?<message>(?:No solution found|` +
        'Failed to (?:build|download|fetch|resolve)).{0,400})',
      ), weight: 79, belongs: INDENTED, messageBelow: /^\s{1,8}[╰╭├]─▶ (?<said>.{1,400})/ },
    { pattern: new RegExp(
        '^error: (?<message>(?:Failed to (?:fetch|download|build|prepare|parse|spawn|install|resolve)|' +
        String.raw`The lockfile at \`uv\.lock\`|No \`pyproject\.toml\`).{0,400})`,
      ), weight: 79, belongs: /^\s{1,8}(?:Caused by: |╰|├|\S)/,
      ran: /\buvx? [a-z-]|\buv(?:\.lock|\.toml|-version)\b|setup-uv\b|^Resolved \d+ packages? in / },
  ] },
  { tool: 'conda', literals: ['packagesnotfounderror', 'unsatisfiableerror', 'resolvepackagenotfound',
    'condahttperror', 'condaerror', 'could not solve for environment', 'condavalueerror'], says: [
    { pattern: new RegExp(
        '^(?<code>PackagesNotFoundError|(?:LibMamba)?UnsatisfiableError|ResolvePackageNotFound|' +
        String.raw`Conda\w{0,20}Error): ?(?<message>.{0,400})`,
      ), weight: 80, belongs: /^\s{0,8}- \S|^$|^\s{2,20}\S|^The following|^Could not solve/,
      informative: /^\s{0,8}- \S|nothing provides/, messageBelow: /^\s{2,8}- (?<said>\S.{0,300})/ },
    { pattern: /^(?:error\s{1,6}libmamba )?(?<message>Could not solve for environment specs.{0,200})/,
      weight: 79, belongs: /^\s{0,8}[├└│─ ]{1,12}\S|^The following|^\s{2,20}\S/ },
  ] },
  { tool: 'bundler', literals: ['bundler could not', 'could not find gem', 'in any of the sources',
    'in locally installed gems', 'and bundler cannot continue', 'an error occurred while installing',
    'failed to build gem native extension', 'gem::ext::builderror', 'your ruby version is',
    'could not find a valid gem', 'you must use bundler', 'bundler: failed to load',
    'because every version of', 'your bundle is locked to', 'in rubygems repository', 'while executing gem',
    'error installing'], says: [
    { pattern: new RegExp(
        '^(?<message>Bundler could not find compatible versions.{0,200}|' +
        'Could not find .{1,200} in (?:any of the sources|locally installed gems|' +
        'rubygems repository).{0,200}|Could not find gem .{1,300}|' +
        'Your bundle is locked to .{1,300})',
      ), weight: 80, belongs: indentedOrBlank },
    { pattern: /^(?<message>Because (?:every version of|\S{1,80} (?:>=|<|=|depends)).{1,400})/, weight: 78,
      belongs: /^\s{1,8}\S|^(?:So|And)[, ]/ },
    { pattern: new RegExp(
        '^(?<message>An error occurred while installing .{1,200}|' +
        'Your Ruby version is .{1,200}|You must use Bundler .{1,200})',
      ), weight: 78 },
    { pattern: new RegExp(
        '^ERROR: {1,2}(?<message>(?:Could not find a valid gem|' +
        'Failed to build gem native extension|While executing gem|Error installing).{0,300})',
      ), weight: 78, belongs: indentedOrBlank },
    { pattern: /^(?<message>Gem::Ext::BuildError: .{1,200}|bundler: failed to load command: .{1,200})/,
      weight: 66, belongs: indentedOrBlank },
  ] },
  { tool: 'rake', literals: ['rake aborted'],
    says: [{ pattern: /^(?<message>rake aborted!)/, weight: 72, belongs: /^(?!\(See full|$)/,
      messageBelow: /(?<said>\S[\s\S]{0,2000})/ }] },
  { tool: 'composer', literals: ['your requirements could not', 'your lock file does not contain',
    'required package "', 'could not authenticate against', 'composer could not', 'could not find package'],
    says: [
    { pattern: new RegExp(
        '^(?<message>Your (?:requirements could not be resolved|' +
        'lock file does not contain a compatible set).{0,200})',
      ), weight: 80, belongs: /^\s{2,200}\S|^$/, informative: /^\s{2,8}- \S/,
      messageBelow: /^\s{2,8}- (?<said>\S.{0,480})/ },
    { pattern: /^- (?<message>Required package ".{1,100}" is not present in the lock file.{0,100})/,
      weight: 78 },
    { pattern: new RegExp(
        String.raw`^\s{0,4}(?<message>(?:Could not authenticate against|Composer could not|` +
        'Could not find package).{1,300})',
      ), weight: 74, isMessage: true },
  ] },
  { tool: 'cocoapods', literals: ['[!] cocoapods could not', '[!] unable to find', '[!] error installing',
    '[!] the ', '[!] invalid', '[!] no podfile'],
    says: [{ pattern: /^\[!\] (?<message>(?:CocoaPods could not find|Unable to find|Error installing|The (?:platform|version|sandbox)|Invalid|No `?Podfile).{1,400})/, weight: 78, belongs: /^\s{1,20}\S|^$|^Specs satisfying|^None of your spec/ }] },
  { tool: 'cabal', literals: ['cabal: ', '[cabal-', 'error: cabal'],
    says: [{ pattern: new RegExp(
      String.raw`^(?:Error: )?(?:\[Cabal-\d{1,5}\]|cabal(?:-\d[\w.]{0,12})?:)` +
      String.raw`\s?(?<message>(?:Could not resolve|Failed to build|The following|` +
      'No cabal file|Cannot|unrecognised).{0,400}|$)',
    ), weight: 78, belongs: /^\[__\d|^\s{1,20}\S|^After searching/,
    informative: /conflict|unknown package|rejecting/ }] },
  { tool: 'stack', literals: ['while constructing the build plan', 'error: [s-', ' build plan'],
    says: [{ pattern: new RegExp(
      String.raw`^Error: (?:\[(?<code>S-\d{1,6})\])?\s{0,4}(?<message>(?:While constructing the build plan|` +
      '.{0,80}build plan).{0,200}|$)',
    ), weight: 78, belongs: /^\s{1,20}\S|^$|^In the dependencies|^Some different approaches/ }] },
  { tool: 'mix', literals: ['** (mix)'],
    says: [{ pattern: /^\s{0,4}\*\* \(Mix\) (?<message>.{1,400})/, weight: 74, belongs: INDENTED }] },
  { tool: 'rebar3', literals: ['===> ', '.erl:', '.hrl:'], says: [
    { pattern: new RegExp(
        '^===> (?<message>(?:Compiling .{1,200} failed|Package not found|Unable to|' +
        'Failed to|Dependency failure|Could not|Error |Errors |Plugin .{1,100} not available|' +
        'Missing|Uncaught error).{0,300})',
      ), weight: 70, belongs: INDENTED },
    { pattern: /^\s{0,4}[┌╭]─ (?<file>[^\s:]{1,250}\.[eh]rl):(?<message>)/,
      belongs: /^\s{0,6}(?:\d{0,6} {0,3})?[│└╰]/, messageBelow: /[│└╰][\s─]{0,80}[╰└]──? (?<said>.{1,400})/ },
  ] },
  { tool: 'cpanm', literals: ['! installing ', "! couldn't find module", '! testing ', '! bailing out'],
    says: [{ pattern: new RegExp(
      '^! (?<message>(?:Installing the dependencies failed|' +
      String.raw`Couldn't find module or a distribution|Installing \S{1,200} failed|` +
      String.raw`Testing \S{1,200} failed|Bailing out).{0,300})`,
    ), weight: 76 }] },
  { tool: 'luarocks', literals: ['error: no results matching query', 'error: failed installing',
    'error: could not satisfy dependency'],
    says: [{ pattern: new RegExp(
      '^Error: (?<message>(?:No results matching query|Failed installing|' +
      'Could not satisfy dependency).{0,300})',
    ), weight: 78 }] },
  { tool: 'apt', literals: ['e: unable', 'e: failed', 'e: package', 'e: could', 'e: version',
    'e: sub-process', 'e: the repository', 'e: no packages', 'dpkg: error', 'err:'], says: [
    { pattern: new RegExp(
        '^E: (?<message>(?:Unable|Failed|Package|Could|Version|Sub-process|' +
        'The repository|No packages).{1,300})',
      ), weight: 74 },
    { pattern: /^dpkg: error (?<message>processing .{1,300})/, weight: 74, belongs: /^\s{1,8}\S/ },
    { pattern: /^Err:\d{1,4} (?<message>\S.{1,300})/, weight: 60, belongs: /^\s{2,8}\S/, isMessage: true },
  ] },
  { tool: 'dnf', literals: ['unable to find a match', 'no match for argument', 'error: nothing to do'],
    says: [{ pattern: new RegExp(
      '^(?:Error: )?(?<message>Unable to find a match: .{1,200}|' +
      'No match for argument: .{1,200}|Error: Nothing to do.{0,40})',
    ), weight: 76 }] },
  { tool: 'apk', literals: ['unable to select packages'],
    says: [{ pattern: /^ERROR: (?<message>unable to select packages:.{0,100})/, weight: 78,
      belongs: /^\s{1,8}\S/, messageBelow: /^\s{1,4}(?<said>\S.{0,200}\(no such package\).{0,40})/ }] },
  { tool: 'brew', literals: ['no available formula', 'no bottle available'],
    says: [{ pattern: new RegExp(
      '^Error: (?<message>No available formula .{1,200}|' +
      '.{1,80}: no bottle available!.{0,40})',
    ), weight: 76 }] },
  { tool: 'choco', literals: ['the package was not found with the source'],
    says: [{ pattern: new RegExp(
      String.raw`^(?<message>\S{1,80} not installed\. The package was not ` +
      'found with the source.{1,200})',
    ), weight: 76 }] },
];
