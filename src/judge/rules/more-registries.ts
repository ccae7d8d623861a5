import { useNewName } from '../known-packages.ts';
import { isPublishedVersionMissing } from '../line-facts.ts';
import { defineRules, type RuleRow } from '../rule.ts';
import { GENERIC_COMPILE } from './symptoms.ts';

/** Rules for messages of Cargo, RubyGems, NuGet, Composer, and system package managers. */
export const MORE_REGISTRY_RULES: readonly RuleRow[] = defineRules('DEPENDENCY_ERROR', {
  'cargo-conflict': {
    kind: 'version_conflict',
    strength: 5.2,
    patterns: [
      /failed to select a version for `/,
      /Only one package in the dependency graph may specify the same links value/,
      /all possible versions conflict with previously selected/,
    ],
    reads: [
      /the package `(?<by>\S{1,80})` depends on `(?<crate>\S{1,80})`, with features: `(?<feature>[^`\n]{1,80})` but `[^`\n]{1,80}` does not have/,
      /links to the native library `(?<native>[^`\n]{1,60})`/,
      /failed to select a version for `(?<clashing>[^`\n]{1,80})`/,
      /required by package `(?<user>\S{1,80} \S{1,40})/,
      /meet the requirements `(?<range>[^`\n]{1,80})` are/,
    ],
    title: [
      '{crate} has no feature “{feature}”',
      'Two packages link to the native library {native}',
      'No version of {clashing} satisfies all packages that need it',
    ],
    cause: [
      '{by} requests the feature “{feature}” of {crate}, but the selected version does not have it.',
      'Two versions of a package that links to {native} would be in the build, but only one is allowed.',
      '{user} and another package require conflicting versions of {clashing}.',
    ],
    fix: [
      [
        'dependency',
        'Remove the feature “{feature}” of {crate} from the manifest of {by}, or require a version of ' +
          '{crate} that has it.',
      ],
      ['dependency', 'Align the requirements so that only one version of {clashing} links to {native}.'],
      ['dependency', 'Align the requirements for {clashing}; {user} requires {range}.'],
    ],
    outranks: [...GENERIC_COMPILE, 'path-missing'],
    matches: ['error: failed to select a version for `libpear-sys`.'],
    ignores: ['Updating libpear-sys v1.2.3 -> v1.2.4'],
    says: [
      {
        log: [
          'error: failed to select a version for `pear`.',
          '    ... required by package `scales v0.1.0 (/build/scales)`',
          'versions that meet the requirements `^1.0` are: 1.0.4',
          '',
          'all possible versions conflict with previously selected packages.',
        ].join('\n'),
        fix: 'Align the requirements for pear; scales v0.1.0 requires ^1.0.',
      },
    ],
  },
  'cargo-cannot-select': {
    kind: 'dependency_install',
    strength: 5,
    patterns: [
      /failed to select a version for/,
      /no matching package named/,
      /candidate versions found which didn't match/,
      /the package `\S{1,80}` depends on `.{1,300} does not have/,
      /cannot be built because it requires rustc/,
      /failed to resolve patches/,
    ],
    reads: [
      /requirement `(?<wanted>[^`\n]{1,120})`/,
      /requirement `(?<crate>[^`\n=]{1,80}?) ?=/,
      /required by package `(?<by>\S{1,80} \S{1,40})/,
      /no matching package named `(?<name>[^`\n]{1,80})`/,
      /package `(?<newer>\S{1,80} v\d\S{0,30}?)` cannot be built because it requires rustc (?<rustc>\d[\d.]{1,10})/,
      /currently active rustc version is (?<active>\d[\w.-]{1,20})/,
    ],
    title: [
      '{newer} needs Rust {rustc}, but the job has {active}',
      'No published version satisfies {wanted}',
      'The registry has no crate named {name}',
    ],
    cause: [
      '{newer} needs Rust {rustc} or newer, but the job has {active}.',
      '{by} requires {wanted}, but the registry has no release in that range; it has {nearest}.',
      'The project requires {wanted}, but the registry has no release in that range.',
      'Cargo looked for the crate {name}, but the registry or path does not have one with that name.',
    ],
    fix: [
      [
        'configuration',
        'Set up Rust {rustc} or newer in the job (it has {active}), or lock a release older than {newer}.',
      ],
      [
        'dependency',
        'Change the requirement for {crate} in Cargo.toml to a published version, such as {nearest}; ' +
          'then build once and commit Cargo.lock.',
      ],
      ['dependency', 'Correct the name {name} in Cargo.toml, or add the registry or path that has it.'],
    ],
    outranks: [...GENERIC_COMPILE, 'path-missing'],
    matches: ['error: no matching package named `pear` found'],
    ignores: ['Locking 12 packages to latest compatible versions'],
    says: [
      {
        log: 'error: failed to select a version for the requirement `pear = "^9.0"`\ncandidate versions found which didn\'t match: 1.4.0, 1.3.0\nlocation searched: crates.io index\nrequired by package `scales v0.1.0 (/build/scales)`',
        title: 'No published version satisfies pear = "^9.0"',
        fix:
          'Change the requirement for pear in Cargo.toml to a published version, such as 1.4.0; then ' +
          'build once and commit Cargo.lock.',
      },
    ],
  },
  'ruby-gems': {
    kind: 'version_conflict',
    strength: 4.6,
    patterns: [
      /Bundler could not find compatible versions/,
      /Could not find gem/,
      /Could not find '.{1,60}' \(.{1,40}\) /,
      /Gem::(?:MissingSpec|LoadError|ConflictError)/,
      /Could not find \S{1,80}-\d[\w.]{0,20} in (?:any of the sources|locally)/,
      /Bundler::GemNotFound/,
    ],
    reads: [
      /Could not find gem '(?<gem>[^'\n]{1,100})' in (?<source>[^\n]{3,120}?)(?: or installed locally)?\.?$/,
      /Could not find (?<installed>[\w.-]{1,80}-\d[\w.]{0,20}(?:-\w{2,20}-\w{2,20})?)(?:, \S{1,100}){0,40} in (?:any of the sources|locally)/,
      /could not find compatible versions for gem "(?<clashing>[^"\n]{1,80})"/,
    ],
    title: [
      'The gem {gem} cannot be found',
      'The gem {installed} is not installed',
      'No version of the gem {clashing} satisfies all gems that need it',
    ],
    cause: [
      'The Gemfile requires {gem}, which is not available in {source}.',
      'The bundle is locked to {installed}, which is not installed in the job.',
      'Gems in the bundle require conflicting versions of {clashing}.',
    ],
    fix: [
      [
        'dependency',
        'Require a published version instead of {gem} in the Gemfile, then commit Gemfile.lock.',
      ],
      [
        'configuration',
        'Run `bundle install` in the job before this step; {installed} from Gemfile.lock is not installed.',
      ],
      ['dependency', 'Run `bundle update {clashing}`, or loosen the requirements for it.'],
    ],
    matches: [
      "Could not find gem 'pear (~> 9.0)' in rubygems repository https://rubygems.org/ or installed locally.",
    ],
    ignores: ['Using pear 1.2.3'],
    says: [
      {
        log:
          "Could not find gem 'pear (~> 9.0)' in rubygems repository https://rubygems.org/ or installed " +
          'locally.',
        title: 'The gem pear (~> 9.0) cannot be found',
        fix: 'Require a published version instead of pear (~> 9.0) in the Gemfile, then commit Gemfile.lock.',
      },
      {
        log: 'Bundler could not find compatible versions for gem "pear":',
        fix: 'Run `bundle update pear`, or loosen the requirements for it.',
      },
    ],
  },
  'nuget-missing': {
    kind: 'dependency_install',
    strength: 4.6,
    patterns: [/\bNU1\d{3}\b/, /Unable to find package \S/, /Package restore failed/],
    reads: [
      /NU110[12]: Unable to find package (?<name>[\w.-]{1,100}?)(?: with version|\. No packages)/,
      /NU110[23]: Unable to find (?:a stable )?package \S{1,100} with version \((?<wanted>[^)\n]{1,60})\)/,
      /NU1103: Unable to find a stable package (?<name>\S{1,100}) with version/,
      /\[ ?Nearest version: (?<nearest>[\w.+-]{1,40})/,
      /No packages exist with this id in source\(s\): (?<sources>[^\n[]{1,120}?)(?: \[|$)/,
      /NU1605:.{0,80} package downgrade: (?<downgraded>\S{1,100}) from (?<from>[\w.-]{1,40}) to (?:centrally defined )?(?<to>[\w.-]{1,40}?)\.(?: |$)/,
      /NU1202: Package (?<unfit>\S{1,100} [\w.-]{1,40}) is not compatible with (?<framework>[\w.-]{1,40})/,
      /NU1008: .{20,200}PackageVersion items: (?<central>[\w.-]{1,100})/,
      /NU1010: .{0,80}PackageReference items (?<versionless>[\w.-]{1,100})/,
      /NU190\d: Package '(?<vulnerable>\S{1,100})' (?<version>[\w.-]{1,40}) has a known (?<severity>\w{3,10}) severity vulnerability/,
      /NU1301: .{0,80}service index for source (?<index>https:\/\/[^\s'"]{4,160}?)\.?(?: |$)/,
    ],
    title: [
      '{downgraded} would be downgraded from {from} to {to}',
      '{unfit} does not support {framework}',
      '{vulnerable} {version} has a known vulnerability',
      'No feed has {name} {wanted}',
      'No feed has the package {name}',
      '{central} sets its own version, which central management does not allow',
      '{versionless} has no centrally managed version',
      'NuGet cannot read the index of {index}',
    ],
    cause: [
      'A dependency requires {downgraded} {from}, but the project sets {to}, so NuGet rejects the downgrade.',
      'The project targets {framework}, which {unfit} does not support.',
      'NuGet found a known vulnerability ({severity}) in {vulnerable} {version}, and the build treats ' +
        'that as an error.',
      'The project requires {name} {wanted}, but no feed has that version; the nearest is {nearest}.',
      'The project requires {name} {wanted}, but no feed has that version.',
      'The project requires {name}, but the feeds ({sources}) have no package with that name.',
    ],
    fix: [
      ['dependency', 'Set {downgraded} to {from} or newer in the project.'],
      ['dependency', 'Use a release of {unfit} that supports {framework}, or raise the target framework.'],
      ['dependency', 'Upgrade {vulnerable} from {version} to a release without the vulnerability.'],
      ['dependency', 'Use {name} {nearest}, the nearest published version.'],
      [
        'dependency',
        'Correct the name {name}, or add the feed that has it to nuget.config; it is not in {sources}.',
      ],
      ['dependency', 'Move the version of {central} from its PackageReference to Directory.Packages.props.'],
      ['dependency', 'Add a PackageVersion for {versionless} to Directory.Packages.props.'],
    ],
    outranks: [...GENERIC_COMPILE, 'path-missing'],
    matches: [
      'error NU1101: Unable to find package Pear. No packages exist with this id in source(s): nuget.org',
    ],
    ignores: [
      'warning NU1701: Package Pear 1.2.3 was restored using another framework',
      'Package restore completed',
    ],
    says: [
      {
        log: 'error NU1102: Unable to find package Orchard.Pear with version (>= 4.0.0)\nerror NU1102:   - Found 12 version(s) in nuget.org [ Nearest version: 3.8.1.303 ]',
        title: 'No feed has Orchard.Pear >= 4.0.0',
        fix: 'Use Orchard.Pear 3.8.1.303, the nearest published version.',
      },
    ],
  },
  'composer-unsatisfied': {
    kind: 'version_conflict',
    strength: 4.8,
    patterns: [
      /Your requirements could not be resolved to an installable set/,
      /requires ext-\w/,
      /which is not satisfiable/,
    ],
    reads: [
      /(?<dependent>[\w.-]{1,60}\/[\w.-]{1,80}(?: [^\s]{1,40})?) requires ext-(?<extension>[\w-]{1,40})/,
      /requires ext-(?<extension>[\w-]{1,40})/,
      /requires php (?<php>[^\n]{1,60}?) -> your php version \((?<found>[\w.-]{1,30})/,
      /requires (?<wanted>[\w.-]{1,60}\/[\w.-]{1,80} [^\n]{1,60}?), found \S{1,120} but it does not match (?<kept>the constraint|your constraint|your minimum-stability)/,
      /requires (?<absent>[\w.-]{1,60}\/[\w.-]{1,80}).{0,60}, it could not be found in any version/,
    ],
    title: [
      'The PHP extension {extension} is missing',
      'A package needs PHP {php}, but the job has {found}',
      'The package {absent} cannot be found',
      'Composer cannot find a set of packages that satisfies {wanted}',
    ],
    cause: [
      '{dependent} requires the PHP extension {extension}, which the job does not have.',
      'The packages require the PHP extension {extension}, which the job does not have.',
      'The packages require PHP {php}, but the job runs {found}.',
      'composer.json requires {absent}, but no repository has any version of it.',
    ],
    fix: [
      ['configuration', 'Install and enable the PHP extension {extension} in the job.'],
      [
        'configuration',
        'Set up PHP {php} in the job (it runs {found}), or lock releases that accept {found}.',
      ],
      ['dependency', 'Correct the name {absent} in composer.json, or add the repository that has it.'],
    ],
    matches: ['Your requirements could not be resolved to an installable set of packages.'],
    ignores: ['Verifying lock file contents can be installed on current platform.'],
    says: [
      {
        log: "Your requirements could not be resolved to an installable set of packages.\n  Problem 1\n    - orchard/pear 2.0.0 requires ext-gd * -> it is missing from your system. Install or enable PHP's gd extension.",
        title: 'The PHP extension gd is missing',
        fix: 'Install and enable the PHP extension gd in the job.',
      },
    ],
  },
  'os-package-missing': {
    kind: 'dependency_install',
    strength: 4.6,
    patterns: [
      /E: Version '.{1,60}' for '.{1,60}' was not found/i,
      /(?:Unsatisfied|Unmet|Failed)(?: build)? dependencies|dpkg: dependency problems|Not all dependencies satisfied/i,
      /No candidate version found|No matching package to install|No match for argument|No such formula|No available formula/i,
      /nothing provides/i,
      /Unable to locate package|has no installation candidate|packages could not be found|no such package/i,
      /conflicting requests|cannot install the best candidate|conflicts with file from package|held broken packages/i,
      /Failed to resolve the transaction/i,
      /^\s{0,8}\S{1,120}(?: [<>=]{1,2} \S{1,60})? is needed by \S{1,120}$/i,
      /No package \S{1,80} available/i,
      /target not found: /i,
      /required by: world/i,
      /unsatisfiable constraints/i,
    ],
    reads: [
      /Unable to locate package (?<name>[\w.+-]{1,80})/,
      /Package '?(?<name>[\w.+-]{1,80})'? has no installation candidate/,
      /E: Version '(?<version>[^'\n]{1,60})' for '(?<name>[^'\n]{1,60})' was not found/,
      /(?:No match for argument|target not found|No such formula|No package): (?<name>[\w.+@/-]{1,80}(?:\([\w.+:-]{1,80}\))?)/,
      /[Nn]othing provides (?<needed>\S{1,80} (?:[<>]?=|[<>]) \S{1,40}) needed by (?<neededBy>[\w.+-]{2,100})/,
      /No available formula with the name "(?<name>[^"\n]{1,80})"/,
      /(?<name>[\w.+-]{1,80}) \(no such package\)/,
      /[Nn]othing provides (?:requested )?'?(?<name>[\w.+:@/-]{1,80}(?:\([\w.+:-]{1,80}\))?)/,
      /No matching package to install: '(?<name>[\w.+:@/-]{1,80}(?:\([\w.+:-]{1,80}\))?)/,
      /Did you mean (?<suggestion>[\w.@+/-]{2,80})\?/,
      /following packages? replaces? it: {1,6}(?<replacement>[\w.+-]{2,80})/,
      /^\s{0,2}(?<by>[\w.+:-]{2,80}) : (?:Pre)?Depends: (?<needs>[\w.+-]{2,80}(?: \([^)\n]{1,60}\))?) but (?<state>it is not \w{5,12}|\S{1,60} is to be installed)/,
    ],
    title: [
      '{neededBy} needs {needed}, which no repository has',
      'The package {name} {version} is not in the package index',
      'The package {name} is not in the package index',
      '{by} cannot be installed: it needs {needs}',
    ],
    cause: [
      '{neededBy} needs {needed}, but no enabled repository provides it.',
      'The job requests version {version} of {name}, which is not in the package index.',
      'The job requests the package {name}, which is not in the package index; {replacement} replaces it.',
      'The job requests the package {name}, which is not in the package index.',
      '{by} depends on {needs}, but {state}.',
    ],
    fix: [
      [
        'configuration',
        'Remove the version pin {version} for {name}, or pin a version that is in the index.',
      ],
      [
        'configuration',
        'Enable the repository that provides {needed}, or use a release of {neededBy} that does not need it.',
      ],
      ['configuration', 'Install {replacement} instead, because it replaces {name}.'],
      ['configuration', useNewName],
      ['configuration', 'Change the name {name} to {suggestion}.'],
      [
        'configuration',
        'Correct the name {name} for this release of the distribution, or enable the repository that has ' +
          'the package.',
      ],
    ],
    matches: ['E: Unable to locate package pear-dev'],
    ignores: ['pear-dev is needed by scales-dev: yes', '✓ there is no such package any more'],
    says: [
      {
        log: "Package libgl1-mesa-glx is not available, but is referred to by another package.\nE: Package 'libgl1-mesa-glx' has no installation candidate",
        title: 'The package libgl1-mesa-glx is not in the package index',
        fix: 'Install libgl1 instead, because newer Debian and Ubuntu releases do not have libgl1-mesa-glx.',
      },
      {
        log: 'Problem: package pear-macros-1-136.noarch from orchard requires pear = 13.0.0\n  - nothing provides pear = 13.0.0 needed by pear-macros-1-136.noarch from orchard',
        title: 'pear-macros-1-136.noarch needs pear = 13.0.0, which no repository has',
        fix:
          'Enable the repository that provides pear = 13.0.0, or use a release of ' +
          'pear-macros-1-136.noarch that does not need it.',
      },
      {
        log: 'No match for argument: pkgconfig(peartools) >= 2.0.0',
        title: 'The package pkgconfig(peartools) is not in the package index',
      },
    ],
  },
  'registry-has-no-version': {
    kind: 'dependency_install',
    strength: 2,
    patterns: [/[\s\S]/],
    when: (fact) => isPublishedVersionMissing(fact.text),
    matches: ['npm error notarget No matching version found for pear@9.9.9.'],
    ignores: ['npm error code ECONNRESET'],
  },
});
