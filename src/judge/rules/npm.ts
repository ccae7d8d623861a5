import { defineRules, type RuleRow } from '../rule.ts';
import { GENERIC_COMPILE } from './symptoms.ts';

/**
 * Rules for messages of npm, pnpm, and Yarn about versions and lock files, and for outdated lock files of
 * other tools.
 */
export const NPM_RULES: readonly RuleRow[] = defineRules('DEPENDENCY_ERROR', {
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
      // npm indents the peers of the version that it found. The peer that does not fit is not indented.
      /^(?:npm (?:error|ERR!) )?peer(?:Optional)? \S{1,120}@"(?<range>[^"\n]{1,80})" from (?<by>@?[^@\s]{1,100})@/,
      /^(?:npm (?:error|ERR!) )?peer(?:Optional)? (?<peer>\S{1,99})@"[^"]{1,80}" from (?<dependent>\S{1,99})/,
    ],
    title: 'npm cannot install {found} alongside {dependent}',
    cause:
      '{dependent} requires {peer}@{range}, but the project specifies {found}. No versions satisfy both.',
    fix: [
      [
        'dependency',
        'Move {by} to a release that accepts {found}, or revert {found}; then run `npm install` and ' +
          'commit the lock file.',
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
          'pear-basket@1.4.0 requires pear@^2.0.0, but the project specifies pear@3.1.0. No versions ' +
          'satisfy both.',
        fix:
          'Move pear-basket to a release that accepts pear@3.1.0, or revert pear@3.1.0; then run `npm ' +
          'install` and commit the lock file.',
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
      '{wanted} is not in the npm registry',
      '{absent} is not in the npm registry',
      'The npm registry has no version of {name} that satisfies {range}',
    ],
    cause: [
      '{folder}/package.json requires {absent}, but that package is not in the npm registry.',
      'The manifest requires {wanted}, but the npm registry lacks that version; the latest is {latest}.',
      'The manifest requires {wanted}, but the npm registry lacks that version.',
      'The manifest requires {absent}, but the npm registry does not have that package or version.',
      'The manifest requires {name} {range}, but the npm registry has no version in that range.',
    ],
    fix: [
      [
        'dependency',
        'Use a published version instead of {wanted}, such as {latest}; then update the lock file.',
      ],
      ['dependency', 'Use a published version instead of {wanted}; then update the lock file.'],
      [
        'dependency',
        'Replace or remove {absent} in {folder}/package.json, because that package is not in the ' +
          'registry. Then update the lock file.',
      ],
      [
        'dependency',
        'Replace or remove {absent} in package.json, or, if it is private, give the install a token that ' +
          'can read it.',
      ],
      ['dependency', 'Use a published version of {name}; none satisfies {range}.'],
    ],
    outranks: [...GENERIC_COMPILE, 'path-missing'],
    matches: ['npm error notarget No matching version found for pear@9.9.9.'],
    ignores: ['✓ answers E404 for a foreign pear'],
    says: [
      {
        log: 'npm error code ETARGET\nnpm error notarget No matching version found for pear@9.9.9.',
        title: 'pear@9.9.9 is not in the npm registry',
        fix: 'Use a published version instead of pear@9.9.9; then update the lock file.',
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
      '{absent?}pnpm needs a lock file, but there is none',
      '{manifest} was changed without updating pnpm-lock.yaml',
      'composer.lock does not contain {composer}',
      '{vendoring?}The vendor folder is out of sync with go.mod',
      '{verification?}Gradle has no matching checksum for a dependency',
      'The lock file does not contain {missing}',
      'The lock file is out of sync with the manifest',
    ],
    cause: [
      '{place} imports {goPackage}, but go.sum has no checksum for its module, because go.sum was not ' +
        'updated together with go.mod.',
      'The code imports {goPackage}, but go.sum has no checksum for its module, because go.sum was not ' +
        'updated together with go.mod.',
      'pnpm must install exactly what the lock file specifies, but {absent} does not exist.',
      '{manifest} requires {new}, which pnpm-lock.yaml does not contain, because the lock file was not ' +
        'updated with the manifest.',
      '{pnpm} does not match {manifest}, because the manifest was changed without updating the lock file.',
      'composer.json requires {composer}, which composer.lock does not contain.',
      '{vendoring?}The vendor folder does not contain what go.mod requires.',
      '{verification?}Gradle verifies dependencies against stored checksums, and one dependency has no ' +
        'checksum or a different one.',
      '`npm ci` installs only what package-lock.json contains, and {missing} is missing from it.',
      'package.json requires {asked}, but the lock file has {locked}.',
      'The manifest was changed without updating its lock file, so the frozen install fails.',
    ],
    fix: [
      [
        'dependency',
        (read) =>
          (read('goPackage') ?? read('goSum') ?? read('goUpdates')) &&
          'Run `go mod tidy` and commit go.mod and go.sum together.',
      ],
      ['dependency', '{vendoring?}Run `go mod vendor` and commit the vendor folder.'],
      ['dependency', 'Run `pnpm install` and commit {absent}.'],
      ['dependency', '{pnpm?}Run `pnpm install` and commit pnpm-lock.yaml together with {manifest}.'],
      ['dependency', '{pnpm?}Run `pnpm install` and commit the updated pnpm-lock.yaml.'],
      [
        'dependency',
        'Run `composer update {composer}`, with every other package that the lock file lacks, and commit ' +
          'composer.lock.',
      ],
      ['dependency', '{cargo?}Run `cargo update --workspace` and commit the updated Cargo.lock.'],
      ['dependency', '{poetry?}Run `poetry lock` and commit the updated poetry.lock.'],
      ['dependency', '{pipenv?}Run `pipenv lock` and commit the updated Pipfile.lock.'],
      ['dependency', '{yarn?}Run `yarn install` and commit the updated yarn.lock.'],
      [
        'dependency',
        'Run `npm install` and commit the updated package-lock.json, because it lacks {missing}.',
      ],
      [
        'dependency',
        'Run `npm install` and commit the updated package-lock.json; it has {locked} instead of {asked}.',
      ],
      ['dependency', '{npm?}Run `npm install` and commit the updated package-lock.json.'],
    ],
    outranks: [...GENERIC_COMPILE, 'path-missing'],
    matches: [
      'npm error `npm ci` can only install packages when your package.json and package-lock.json are in ' +
        'sync.',
    ],
    ignores: ['Lockfile is up to date, resolution step is skipped', 'Installing with --frozen-lockfile'],
    says: [
      {
        log: 'npm error code EUSAGE\nnpm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.\nnpm error Missing: pear@1.2.0 from lock file',
        title: 'The lock file does not contain pear@1.2.0',
        cause: '`npm ci` installs only what package-lock.json contains, and pear@1.2.0 is missing from it.',
        fix: 'Run `npm install` and commit the updated package-lock.json, because it lacks pear@1.2.0.',
      },
      {
        log:
          'ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is ' +
          'not up to date with <ROOT>/apps/scales/package.json',
        title: 'apps/scales/package.json was changed without updating pnpm-lock.yaml',
        fix: 'Run `pnpm install` and commit pnpm-lock.yaml together with apps/scales/package.json.',
      },
    ],
  },
});
