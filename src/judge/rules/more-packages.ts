import { type RuleRow, ruleTable } from '../rule.ts';

/** More of what package managers say: lock files and checksums, members that do not fit, advisories. */
export const PACKAGE_RULES: readonly RuleRow[] = ruleTable('DEPENDENCY_ERROR', {
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
    ],
    meets: [
      'error: The lockfile at `uv.lock` needs to be updated, but `--locked` was provided.',
      'pyproject.toml changed significantly since poetry.lock was last generated.',
      'You are trying to install in deployment mode after changing your Gemfile.',
    ],
    spares: ['Resolved 12 packages from uv.lock'],
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
    meets: ['npm error code EINTEGRITY', 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.'],
    spares: ['✓ refuses an invalid or corrupted package', 'Integrity check passed for pear'],
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
    meets: [
      '[!] CocoaPods could not find compatible versions for pod "Pear":',
      'Duplicate class org.fruit.Pear found in modules pear-1.jar (a:b:1) and pear-2.jar (a:b:2)',
      'ERROR: unable to select packages:',
    ],
    spares: ['✓ throws a ResolveException: pear', 'Duplicate classes found in modules: none'],
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
    meets: [
      'A module that was compiled using NumPy 1.x cannot be run in NumPy 2.0.0 as it may crash.',
      'Error [ERR_REQUIRE_ESM]: require() of ES Module /app/node_modules/pear/index.js from /app/weigh.js not supported.',
    ],
    spares: ['Error: require() of ES Module /app/dist/index.js from /app/weigh.js not supported.', 'scales: ELF 64-bit LSB executable'],
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
    meets: [
      "scales.swift:3:8: error: no such module 'Pear'",
      'An error occurred while installing pear (1.2.3), and Bundler cannot continue.',
    ],
    spares: ["✓ no such module 'Pear'", 'Installing pear (1.2.3)'],
  },
  'advisory-found': {
    kind: 'vulnerability',
    strength: 3.6,
    patterns: [/\bRUSTSEC-\d{4}-\d{4}\b/, /\bGHSA(?:-\w{4}){3}\b/, /^Found [1-9]\d{0,5} known vulnerabilit(?:y|ies)\b/],
    meets: ['error[vulnerability]: RUSTSEC-2099-0001'],
    spares: ['1 critical severity vulnerability', 'found 0 vulnerabilities', 'warning: ignored advisory RUSTSEC-2099-0001'],
  },
});
