import { type RuleRow, ruleTable } from '../rule.ts';
import { GENERIC_COMPILE } from './symptoms.ts';

/**
 * Rules for messages of npm, pnpm, and Yarn about versions and lock files, and for outdated lock files of
 * other tools.
 */
export const NPM_RULES: readonly RuleRow[] = ruleTable('DEPENDENCY_ERROR', {
  'npm-eresolve': {
    kind: 'version_conflict',
    strength: 5,
    patterns: [
      /\bERESOLVE\b/,
      /unable to resolve dependency tree/,
      /Conflicting peer dependency/,
      /Could not resolve dependency:/,
      /ERR_PNPM_PEER/,
    ],
    reads: [
      /Found: (?<found>\S{1,120})/,
      // npm indents the peers of what it found; the one that does not fit begins its line.
      /^(?:npm (?:error|ERR!) )?peer(?:Optional)? \S{1,120}@"(?<range>[^"\n]{1,80})" from (?<by>@?[^@\s]{1,100})@/,
      /^(?:npm (?:error|ERR!) )?peer(?:Optional)? (?<peer>\S{1,99})@"[^"]{1,80}" from (?<dependent>\S{1,99})/,
    ],
    title: 'npm cannot install {found} alongside {dependent}',
    cause:
      '{dependent} requires {peer}@{range}, but the project asks for {found}. No set of versions satisfies both.',
    fix: [
      [
        'dependency',
        'Move {by} to a release that accepts {found}, or revert {found}; then run `npm install` and commit the lock file.',
      ],
    ],
    outranks: [...GENERIC_COMPILE, 'path-missing'],
    matches: ['npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree'],
    ignores: ['npm warn ERESOLVE overriding peer dependency', ' WARN  unmet peer pear@2: found 1.0.0'],
    says: [
      {
        log: 'npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\nnpm error Found: pear@3.1.0\nnpm error Could not resolve dependency:\nnpm error peer pear@"^2.0.0" from pear-basket@1.4.0',
        title: 'npm cannot install pear@3.1.0 alongside pear-basket@1.4.0',
        cause:
          'pear-basket@1.4.0 requires pear@^2.0.0, but the project asks for pear@3.1.0. No set of versions satisfies both.',
        fix: 'Move pear-basket to a release that accepts pear@3.1.0, or revert pear@3.1.0; then run `npm install` and commit the lock file.',
      },
    ],
  },
  'npm-version-missing': {
    kind: 'dependency_install',
    strength: 4.8,
    patterns: [
      /\b(?:ETARGET|E404)\b|No matching version found for/,
      /is not in (?:this|the npm) registry/,
      /Couldn't find (?:any versions|package)/,
      /ERR_PNPM_(?:FETCH_404|NO_MATCHING_VERSION)/,
    ],
    reads: [
      /No matching version found for (?<wanted>\S{1,120}?)[.\s]*(?:while fetching.*)?$/,
      /(?:^|[\s'"])(?<absent>@?[\w.-]{1,80}(?:\/[\w.-]{1,80})?(?:@[^\s'"]{1,60})?)['"]? is not in (?:this|the npm) registry/,
      /ERR_PNPM_FETCH_404\W{1,6}GET https?:\/\/[^/\s]{1,100}\/(?<absent>[^\s%]{1,100}?): /,
      /Couldn't find package "(?<absent>[^"\n]{1,100})"/,
      /Couldn't find any versions for "(?<name>[^"\n]{1,100})" that matches "(?<range>[^"\n]{1,60})"/,
      /latest release of (?:\S{1,100}) is "(?<latest>[^"\n]{1,40})"/,
      /direct dependency of \/home\/runner\/work\/[^/\s]{1,100}\/[^/\s]{1,100}\/(?<folder>[\w./@-]{1,160})$/,
    ],
    title: [
      'The npm registry has no {wanted}',
      'The npm registry has no {absent}',
      'The npm registry has no {name} that fits {range}',
    ],
    cause: [
      '{folder}/package.json asks for {absent}, but the npm registry has no such package.',
      'The manifest asks for {wanted}, but the npm registry has no such version; the latest is {latest}.',
      'The manifest asks for {wanted}, but the npm registry has no such version.',
      'The manifest asks for {absent}, but the npm registry has no such package or version.',
      'The manifest asks for {name} {range}, but the npm registry has no version in that range.',
    ],
    fix: [
      [
        'dependency',
        'Ask for a version of {wanted} that is published, such as {latest}; then update the lock file.',
      ],
      ['dependency', 'Ask for a version that is published instead of {wanted}; then update the lock file.'],
      [
        'dependency',
        'Replace or remove {absent} in {folder}/package.json: the registry has no such package. Then update the lock file.',
      ],
      [
        'dependency',
        'Replace or remove {absent} in package.json, or, if it is private, give the install a token that may read it.',
      ],
      ['dependency', 'Ask for a version of {name} that is published: none fits {range}.'],
    ],
    outranks: [...GENERIC_COMPILE, 'path-missing'],
    matches: ['npm error notarget No matching version found for pear@9.9.9.'],
    ignores: ['✓ answers E404 for a foreign pear'],
    says: [
      {
        log: 'npm error code ETARGET\nnpm error notarget No matching version found for pear@9.9.9.',
        title: 'The npm registry has no pear@9.9.9',
        fix: 'Ask for a version that is published instead of pear@9.9.9; then update the lock file.',
      },
    ],
  },
  'lockfile-out-of-step': {
    kind: 'dependency_install',
    strength: 5,
    patterns: [
      /`?npm ci`? can only install packages when your package\.json and/i,
      /lock ?file (?:needs to be|would have been|is not up to date|is out of)/i,
      /(?:cannot|fail\w{0,3}|unable).{0,60}frozen[- ]lockfile/i,
      /frozen-lockfile.{0,40}(?:fail|error|not up)/i,
      /ERR_PNPM_OUTDATED_LOCKFILE/i,
      /needs to be updated but --locked was passed/i,
      /lock file .{0,40}(?:is out of date|not up to date|needs to be updated)/i,
      /out of sync with/i,
      /missing go\.sum entry/i,
      /updates to go\.mod needed/i,
      /inconsistent vendoring/i,
      /poetry\.lock is not up to date/i,
      /Pipfile\.lock .{0,40}out of date/i,
      /dependencies differ/i,
      /The lockfile would have been modified by this install, which is explicitly forbidden/i,
      /Dependency verification failed/i,
    ],
    reads: [
      /missing go\.sum entry for module providing package (?<goPackage>[\w./-]{1,200})/,
      /missing (?<goSum>go\.sum) entry/,
      /(?<goUpdates>updates to go\.mod needed)/,
      /(?<vendoring>inconsistent vendoring)/,
      /npm (?:error|ERR!) Missing: (?<missing>\S{1,120}) from lock file/,
      /lock file's (?<locked>\S{1,100}) does not satisfy (?<asked>\S{1,100})/,
      /(?<absent>pnpm-lock\.yaml) is absent/,
      /(?<pnpm>pnpm-lock\.yaml)"? is not up to date with/,
      /is not up to date with (?:<ROOT>\/)?(?<manifest>[\w./-]{0,120}package\.json)/,
      /dependenc(?:y was|ies were) (?<added>added): /,
      /dependenc(?:y was|ies were) added: (?<new>@?[\w./-]{1,100}@[^\s,]{1,40})/,
      /(?<yarn>yarn\.lock|The lockfile would have been modified by this install|yarn was run with `--frozen-lockfile`)/,
      /(?<cargo>needs to be updated but --locked was passed)/,
      /(?<poetry>poetry\.lock)/,
      /(?<pipenv>Pipfile\.lock) .{0,40}out of date/,
      /Required package "(?<composer>[^"\n]{1,100})" is not present in the lock file/,
      /(?<verification>Dependency verification failed)/,
      /(?<npm>`?npm ci`? can only install packages)/,
    ],
    title: [
      'go.sum has no entry for {goPackage}',
      '{absent?}pnpm needs a lock file, and there is none',
      '{manifest} was changed without pnpm-lock.yaml',
      'composer.lock lacks {composer}',
      '{vendoring?}The folder vendor is out of step with go.mod',
      '{verification?}Gradle has no matching checksum for a dependency',
      'The lock file lacks {missing}',
      'The lock file is out of step with the manifest',
    ],
    cause: [
      '{place} imports {goPackage}, but go.sum has no checksum for its module: go.sum was not updated together with go.mod.',
      'The code imports {goPackage}, but go.sum has no checksum for its module: go.sum was not updated together with go.mod.',
      'pnpm was to install exactly what the lock file says, and {absent} does not exist.',
      '{manifest} asks for {new}, which pnpm-lock.yaml does not have: the lock file was not updated with the manifest.',
      '{pnpm} does not fit {manifest}: the manifest was changed without its lock file.',
      'composer.json requires {composer}, which composer.lock does not have.',
      '{vendoring?}The folder vendor does not hold what go.mod asks for.',
      '{verification?}Gradle checks dependencies against their stored checksums, and one has none or another one.',
      '`npm ci` installs only what package-lock.json has, and it lacks {missing}.',
      'package.json asks for {asked}, but the lock file has {locked}.',
      'The manifest was changed without its lock file, so the frozen install fails.',
    ],
    fix: [
      [
        'dependency',
        (read) =>
          (read('goPackage') ?? read('goSum') ?? read('goUpdates')) &&
          'Run `go mod tidy` and commit go.mod and go.sum together.',
      ],
      ['dependency', '{vendoring?}Run `go mod vendor` and commit the folder vendor.'],
      ['dependency', 'Run `pnpm install` and commit {absent}.'],
      ['dependency', '{pnpm?}Run `pnpm install` and commit pnpm-lock.yaml together with {manifest}.'],
      ['dependency', '{pnpm?}Run `pnpm install` and commit the updated pnpm-lock.yaml.'],
      [
        'dependency',
        'Run `composer update {composer}`, with each package that the lock file lacks, and commit composer.lock.',
      ],
      ['dependency', '{cargo?}Run `cargo update --workspace` and commit the updated Cargo.lock.'],
      ['dependency', '{poetry?}Run `poetry lock` and commit the updated poetry.lock.'],
      ['dependency', '{pipenv?}Run `pipenv lock` and commit the updated Pipfile.lock.'],
      ['dependency', '{yarn?}Run `yarn install` and commit the updated yarn.lock.'],
      ['dependency', 'Run `npm install` and commit the updated package-lock.json: it lacks {missing}.'],
      [
        'dependency',
        'Run `npm install` and commit the updated package-lock.json: it has {locked} instead of {asked}.',
      ],
      ['dependency', '{npm?}Run `npm install` and commit the updated package-lock.json.'],
    ],
    outranks: [...GENERIC_COMPILE, 'path-missing'],
    matches: [
      'npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.',
    ],
    ignores: ['Lockfile is up to date, resolution step is skipped', 'Installing with --frozen-lockfile'],
    says: [
      {
        log: 'npm error code EUSAGE\nnpm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.\nnpm error Missing: pear@1.2.0 from lock file',
        title: 'The lock file lacks pear@1.2.0',
        cause: '`npm ci` installs only what package-lock.json has, and it lacks pear@1.2.0.',
        fix: 'Run `npm install` and commit the updated package-lock.json: it lacks pear@1.2.0.',
      },
      {
        log: 'ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with <ROOT>/apps/scales/package.json',
        title: 'apps/scales/package.json was changed without pnpm-lock.yaml',
        fix: 'Run `pnpm install` and commit pnpm-lock.yaml together with apps/scales/package.json.',
      },
    ],
  },
});
