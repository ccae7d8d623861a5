import { installKnown } from '../known-packages.ts';
import { defineRules, type RuleRow } from '../rule.ts';

/** Rules for lock files and checksums, incompatible members, and security advisories. */
export const LOCK_FILE_RULES: readonly RuleRow[] = defineRules('DEPENDENCY_ERROR', {
  'lock-file-stale': {
    kind: 'dependency_install',
    strength: 5,
    patterns: [
      /The lockfile at `[^`]{1,120}` needs to be updated/,
      /^(?:Error: )?pyproject\.toml changed significantly since poetry\.lock/,
      /ERR_PNPM_(?:NO_LOCKFILE|LOCKFILE_CONFIG_MISMATCH|BROKEN_LOCKFILE)/,
      /^You are trying to install in deployment mode after changing/,
      /^Your bundle only supports platforms/,
      /^The gemspecs for path gems changed/,
      /Your lock file does not contain a compatible set of packages/,
      /The sandbox is not in sync with the Podfile\.lock/,
      /\bNU1004\b/,
      /Unchecked dependencies for environment/,
      /`?npm ci`? command can only install with an existing package-lock/,
    ],
    reads: [
      /The lockfile at `(?<uv>[^`\n]{1,120})` needs to be updated/,
      /(?<poetry>since poetry\.lock was last generated)/,
      /(?<bundle>in deployment mode after changing|gemspecs for path gems changed)/,
      /Your bundle only supports platforms \[(?<platforms>[^\]\n]{1,120})\] but your local platform is (?<platform>[\w.-]{3,60}?)\.?(?: |$)/,
      /(?<noPnpm>ERR_PNPM_NO_LOCKFILE)/,
      /(?<pnpmConfig>ERR_PNPM_LOCKFILE_CONFIG_MISMATCH)/,
      /current "(?<setting>[\w.]{1,40})" configuration doesn't match/,
      /(?<pods>sandbox is not in sync with the Podfile\.lock)/,
      /(?<nuget>NU1004)/,
      /(?<npm>`?npm ci`? command can only install with an existing package-lock)/,
    ],
    title: [
      '{npm?}`npm ci` needs a lock file, but there is none',
      '{uv} is out of sync with pyproject.toml',
      '{poetry?}poetry.lock is out of sync with pyproject.toml',
      'Gemfile.lock does not include the platform {platform}',
      '{bundle?}Gemfile.lock is out of sync with the Gemfile',
      '{noPnpm?}pnpm needs a lock file, but there is none',
      'pnpm-lock.yaml was created with a different {setting} setting',
      '{pods?}The installed pods do not match Podfile.lock',
      '{nuget?}packages.lock.json is out of sync with the project',
    ],
    cause: [
      '{npm?}`npm ci` installs from a lock file, but the folder that it runs in has none.',
      'pyproject.toml was changed without updating {uv}, so the locked install fails.',
      '{poetry?}pyproject.toml was changed without updating poetry.lock, so the install fails.',
      'Gemfile.lock was generated for {platforms}, but the job runs on {platform}.',
      '{bundle?}The Gemfile or a gemspec was changed without updating Gemfile.lock, and the job is not ' +
        'allowed to change it.',
      'The pnpm setting {setting} was changed without updating pnpm-lock.yaml, so the frozen install fails.',
    ],
    fix: [
      [
        'dependency',
        '{npm?}Commit package-lock.json to the folder that `npm ci` runs in, or run `npm install` instead.',
      ],
      ['dependency', 'Run `uv lock` and commit {uv}.'],
      ['dependency', '{poetry?}Run `poetry lock` and commit poetry.lock.'],
      ['dependency', 'Run `bundle lock --add-platform {platform}` and commit Gemfile.lock.'],
      ['dependency', '{bundle?}Run `bundle install` and commit Gemfile.lock.'],
      ['dependency', '{noPnpm?}Run `pnpm install` and commit pnpm-lock.yaml.'],
      [
        'dependency',
        "{pnpmConfig?}Run `pnpm install --no-frozen-lockfile` with the job's pnpm version and commit " +
          'pnpm-lock.yaml, because the setting {setting} differs.',
      ],
      ['configuration', '{pods?}Run `pod install` in the job before the build, and commit Podfile.lock.'],
      ['dependency', '{nuget?}Run `dotnet restore --force-evaluate` and commit packages.lock.json.'],
    ],
    matches: [
      'error: The lockfile at `uv.lock` needs to be updated, but `--locked` was provided.',
      'pyproject.toml changed significantly since poetry.lock was last generated.',
      'You are trying to install in deployment mode after changing your Gemfile.',
    ],
    ignores: ['Resolved 12 packages from uv.lock'],
    says: [
      {
        log: 'error: The lockfile at `uv.lock` needs to be updated, but `--locked` was provided.',
        title: 'uv.lock is out of sync with pyproject.toml',
        fix: 'Run `uv lock` and commit uv.lock.',
      },
      {
        log:
          'Your bundle only supports platforms ["x86_64-darwin"] but your local platform is ' +
          'x86_64-linux. Add the current platform to the lockfile.',
        fix: 'Run `bundle lock --add-platform x86_64-linux` and commit Gemfile.lock.',
      },
    ],
  },
  'package-checksum': {
    kind: 'dependency_install',
    strength: 4.6,
    patterns: [
      /\bEINTEGRITY\b/,
      /THESE PACKAGES DO NOT MATCH THE HASHES/,
      /Integrity check failed for/,
      /SECURITY ERROR/,
      /error: checksum for `[^`]{1,120}` changed between lock files/,
      /invalid or corrupted package/,
    ],
    reads: [
      /checksum for `(?<crate>[^`\n]{1,120})` changed between lock files/,
      /Integrity check failed for ["']?(?<name>[^\s"']{1,100})/,
      /when using (?:"|\S{1,20} integrity for )?(?<url>https:\/\/[^\s'"]{4,200})/,
    ],
    title: [
      'The content of {crate} does not match the lock file',
      'The content of {name} does not match the lock file',
    ],
    cause: [
      'The checksum of {crate} differs from the one in the lock file.',
      'The content that was downloaded as {name} has a different checksum than the lock file.',
    ],
    matches: [
      'npm error code EINTEGRITY',
      'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.',
    ],
    ignores: ['✓ refuses an invalid or corrupted package', 'Integrity check passed for pear'],
  },
  'members-do-not-fit': {
    kind: 'version_conflict',
    strength: 4.8,
    patterns: [
      /CocoaPods could not find compatible versions for pod/,
      /Unable to find a specification for `/,
      /Dependencies could not be resolved because/,
      /Duplicate class \S{1,200} found in modules/,
      /ERROR: unable to select packages/,
      /failed to commit transaction \(conflicting files\)/,
      /The package was not found with the source\(s\) listed/,
      /failed to get `[^`]{1,80}` as a dependency of package/,
      /ResolveException: /,
    ],
    reads: [
      /could not find compatible versions for pod "(?<pod>[^"\n]{1,80})"/,
      /Unable to find a specification for `(?<unknownPod>[^`\n]{1,100})`/,
      /Duplicate class (?<class>[\w.$]{1,200}) found in modules (?<one>\S{1,120}) \(\S{1,160}\) and (?<other>\S{1,120})/,
      /(?<staleSpecs>out-of-date source repos)/,
      /failed to get `(?<crate>[^`\n]{1,80})` as a dependency of package `(?<by>\S{1,80})/,
    ],
    title: [
      'No version of the pod {pod} satisfies all that need it',
      'CocoaPods cannot find the pod {unknownPod}',
      '{one} and {other} contain the same class',
      'Cargo cannot get {crate}',
    ],
    cause: [
      'The Podfile and its pods require conflicting versions of {pod}, or the known specifications lack ' +
        'a suitable version.',
      'The Podfile requires {unknownPod}, but the known specifications do not include that pod.',
      'Both {one} and {other} contain {class}, but only one of them is allowed to.',
      '{by} depends on {crate}, which cargo could not get from its source.',
    ],
    fix: [
      [
        'dependency',
        '{staleSpecs?}Run `pod install --repo-update`, or `pod update {pod}` and commit Podfile.lock.',
      ],
      ['dependency', 'Exclude either {one} or {other}, because both contain {class}.'],
    ],
    matches: [
      '[!] CocoaPods could not find compatible versions for pod "Pear":',
      'Duplicate class org.fruit.Pear found in modules pear-1.jar (a:b:1) and pear-2.jar (a:b:2)',
      'ERROR: unable to select packages:',
    ],
    ignores: ['✓ throws a ResolveException: pear', 'Duplicate classes found in modules: none'],
  },
  'built-against-another-version': {
    kind: 'version_conflict',
    strength: 4.7,
    patterns: [
      /numpy\.\w{1,40} size changed, may indicate binary incompatibility/,
      /A module that was compiled using NumPy 1\.x cannot be run in/,
      /require\(\) of ES Module \S{0,300}node_modules\S{1,300} .{0,200}not supported/,
      /Could not locate the bindings file/,
    ],
    reads: [
      /(?<numpy>compiled using NumPy 1\.x cannot be run in NumPy 2|numpy\.\w{1,40} size changed)/,
      /require\(\) of ES Module \S{0,300}node_modules\/(?<name>(?:@[\w.-]{1,60}\/)?[\w.-]{1,80})\/\S{0,200} from (?<from>\S{1,200})/,
    ],
    title: [
      '{numpy?}A package was built for another major version of NumPy',
      '{name} can only be imported, not required',
    ],
    cause: [
      '{numpy?}An installed package was compiled for a different NumPy version than the installed one.',
      '{from} requires {name}, whose installed version is available only as an ES module.',
    ],
    fix: [
      ['dependency', '{numpy?}Pin `numpy<2`, or upgrade the package that was compiled for NumPy 1.'],
      ['dependency', 'Pin {name} to its last release that supports `require()`, or load it with `import()`.'],
    ],
    matches: [
      'A module that was compiled using NumPy 1.x cannot be run in NumPy 2.0.0 as it may crash.',
      'Error [ERR_REQUIRE_ESM]: require() of ES Module /app/node_modules/pear/index.js from ' +
        '/app/weigh.js not supported.',
    ],
    ignores: [
      'Error: require() of ES Module /app/dist/index.js from /app/weigh.js not supported.',
      'scales: ELF 64-bit LSB executable',
    ],
  },
  'module-of-language-missing': {
    kind: 'missing_module',
    strength: 4.3,
    patterns: [
      /(?:error|swift): [Nn]o such module '/,
      /ESLint couldn't find the (?:plugin|config)/,
      /An error occurred while installing \S{1,80} \(/,
      /Could not find plugin "[^"]{1,100}"/,
    ],
    reads: [
      /no such module '(?<swift>[^'\n]{1,80})'/i,
      /couldn't find the (?:plugin|config) "(?<eslint>[^"\n]{1,100})"/,
      /An error occurred while installing (?<gem>[\w.-]{1,80} \([^)\n]{1,40}\))/,
      /fatal error: (?<header>[\w./+-]{1,120}\.h(?:pp)?): No such file/,
    ],
    title: [
      'Swift cannot find the module {swift}',
      'ESLint cannot find {eslint}',
      'The gem {gem} cannot be installed',
    ],
    cause: [
      'The code imports {swift}, which no target or package of the build provides.',
      'The ESLint configuration uses {eslint}, which is not installed.',
      'Bundler could not build or install the gem {gem}.',
    ],
    fix: [
      [
        'dependency',
        'Add {eslint} to the devDependencies and commit the lock file; the ESLint configuration uses it.',
      ],
      ['configuration', installKnown('header')],
      ['dependency', 'Add {swift} to the dependencies of the target that imports it, or correct the import.'],
    ],
    matches: [
      "scales.swift:3:8: error: no such module 'Pear'",
      'An error occurred while installing pear (1.2.3), and Bundler cannot continue.',
    ],
    ignores: ["✓ no such module 'Pear'", 'Installing pear (1.2.3)'],
    says: [
      {
        log: "scales.swift:3:8: error: no such module 'Pear'",
        fix: 'Add Pear to the dependencies of the target that imports it, or correct the import.',
      },
    ],
  },
  'advisory-found': {
    kind: 'vulnerability',
    strength: 3.6,
    patterns: [
      /\bRUSTSEC-\d{4}-\d{4}\b/,
      /\bGHSA(?:-\w{4}){3}\b/,
      /^Found [1-9]\d{0,5} known vulnerabilit(?:y|ies)\b/,
    ],
    reads: [
      /\b(?<advisory>RUSTSEC-\d{4}-\d{4}|GHSA(?:-\w{4}){3})\b/,
      /^\s{0,4}Crate:\s{1,12}(?<crate>[\w-]{1,80})/,
      /Solution:\s{1,12}Upgrade to (?<upgrade>[^\n]{2,80})/,
      /^(?:Crate|Version):\s{1,12}(?<version>\d[\w.+-]{1,30})/,
      /Found (?<count>[1-9]\d{0,5}) known vulnerabilit/,
      /^(?<pip>[\w.-]{1,80})\s{1,40}(?<has>\d[\w.]{0,20})\s{1,20}(?:PYSEC|GHSA|CVE)-\S{4,30}\s{1,20}(?<fixed>\d[\w.]{0,20})/,
    ],
    title: [
      '{crate} has a known vulnerability ({advisory})',
      '{pip} {has} has a known vulnerability',
      'A dependency has the vulnerability {advisory}',
    ],
    cause: [
      'The advisory check found {advisory} in {crate}.',
      'The advisory check found {pip} {has}, which has a known vulnerability that is fixed in {fixed}.',
      'The advisory check found {advisory} in a dependency.',
    ],
    fix: [
      ['dependency', 'Upgrade {crate} to {upgrade}.'],
      ['dependency', 'Upgrade {pip} from {has} to {fixed} or newer.'],
    ],
    matches: ['error[vulnerability]: RUSTSEC-2099-0001'],
    ignores: [
      '1 critical severity vulnerability',
      'found 0 vulnerabilities',
      'warning: ignored advisory RUSTSEC-2099-0001',
    ],
  },
});
