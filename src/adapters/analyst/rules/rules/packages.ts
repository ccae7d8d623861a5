import type { Fact, Facts } from '../facts.ts';
import { isOwnModule, missingModuleName } from '../modules.ts';
import { isPublishedVersionMissing } from '../registry.ts';
import { type Rule, ruleTable } from '../rule.ts';

/** What we build on: packages that are missing, clash, moved or broke their users. */
export const PACKAGE_RULES: readonly Rule[] = ruleTable({ category: 'DEPENDENCY_ERROR' }, [
  [
    'npm-eresolve',
    'version_conflict',
    5,
    /\bERESOLVE\b|unable to resolve dependency tree|Conflicting peer dependency|unmet peer|Could not resolve dependency:|ERR_PNPM_PEER/,
  ],
  [
    'npm-version-missing',
    'dependency_install',
    4.8,
    /\bETARGET\b|No matching version found for|\bE404\b|is not in (?:this|the npm) registry|Couldn't find (?:any versions|package)|ERR_PNPM_(?:FETCH_404|NO_MATCHING_VERSION)/,
  ],
  [
    'lockfile-out-of-step',
    'version_conflict',
    5,
    /can only install packages when your package\.json and|lock ?file (?:needs to be|would have been|is not up to date|is out of)|frozen-lockfile|ERR_PNPM_OUTDATED_LOCKFILE|but --locked was passed|lock file .{0,40}(?:is out of date|not up to date|needs to be updated)|out of sync with|missing go\.sum entry|updates to go\.mod needed|inconsistent vendoring|poetry\.lock is not up to date|Pipfile\.lock .{0,40}out of date|dependency-lock|dependencies differ|The lockfile would have been modified|Dependency verification failed|YN0028/i,
  ],
  [
    'pip-no-matching-distribution',
    'dependency_install',
    5,
    /No matching distribution found|Could not find a version that satisfies|Could not find suitable distribution|because there (?:is|are) no versions? of|No solution found when resolving|Requires-Python|requires a different Python|python_requires/,
  ],
  [
    'pip-conflict',
    'version_conflict',
    5,
    /ResolutionImpossible|conflicting dependencies|Cannot install .{1,160} because these package versions|DistributionNotFound|VersionConflict|ContextualVersionConflict|SolverProblemError|version solving failed|PluginValidationError|but you have .{1,80} which is incompatible|UnsatisfiableError|LibMambaUnsatisfiableError|PackagesNotFoundError/,
  ],
  [
    'package-build-failed',
    'dependency_install',
    3.6,
    /Failed building wheel for|Failed to build \S{1,80}$|subprocess-exited-with-error|metadata-generation-failed|failed to run custom build command for|node-gyp|gyp ERR!|Failed to build gem native extension|ERROR: Failed to build installable wheels/,
    { when: (_fact, facts) => facts.compileErrors.length === 0 },
  ],
  [
    'maven-unresolvable',
    'dependency_install',
    4.8,
    /Could not resolve dependencies|Could not find artifact|artifacts could not be resolved|Failed to collect dependencies|Non-resolvable (?:parent POM|import POM)|Could not resolve all (?:files|dependencies|artifacts|task dependencies)|> Could not find \S{1,200}|DependencyResolutionException|not found: \S{1,120}#\S{1,120};|UNRESOLVED DEPENDENCIES|unresolved dependency/,
    { when: notJustTheNetwork },
  ],
  [
    'maven-enforcer',
    'version_conflict',
    4.6,
    /maven-enforcer-plugin|Dependency convergence error|RequireUpperBound|requires Jenkins \d|Some Enforcer rules have failed|banned dependenc|Rule \d{1,3}: org\.apache\.maven\.(?:plugins\.)?enforcer/i,
  ],
  [
    'cargo-cannot-select',
    'version_conflict',
    5,
    /failed to select a version for|no matching package named|candidate versions found which didn't match|the package `\S{1,80}` depends on `|cannot be built because it requires rustc|failed to resolve patches/,
  ],
  [
    'go-module-missing',
    'missing_module',
    4.6,
    /no required module provides package|cannot find module providing package|does not contain package|unknown revision|is not in (?:GOROOT|std)|module .{1,160} not found|go: .{1,200}: (?:invalid version|reading \S{1,200}: 404)|verifying .{0,120}checksum mismatch|ambiguous import/,
  ],
  [
    'ruby-gems',
    'version_conflict',
    4.6,
    /Bundler could not find compatible versions|Could not find gem|Could not find '.{1,60}' \(.{1,40}\) |Gem::(?:MissingSpec|LoadError|ConflictError)|Could not find \S{1,80}-\d[\w.]{0,20} in (?:any of the sources|locally)|Bundler::GemNotFound/,
  ],
  ['nuget-missing', 'dependency_install', 4.6, /\bNU1\d{3}\b|Unable to find package \S|Package restore failed|Detected package downgrade/],
  [
    'composer-unsatisfied',
    'version_conflict',
    4.8,
    /Your requirements could not be resolved to an installable set|requires ext-\w|which is not satisfiable/,
  ],
  [
    'os-package-missing',
    'dependency_install',
    4.6,
    /nothing provides|No matching package to install|No match for argument|Unable to locate package|has no installation candidate|unmet dependencies|Unmet build dependencies|packages could not be found|Not all dependencies satisfied|conflicts with file from package|Failed to resolve the transaction|cannot install the best candidate|conflicting requests|held broken packages|no such package|Failed build dependencies|is needed by|No package \S{1,80} available|target not found: |required by: world|unsatisfiable constraints/i,
  ],
  [
    'library-not-found',
    'missing_module',
    4.4,
    /Dependency "?\S{1,80}"? ?(?:not found|found: NO)|dependency \S{1,80} found: NO|Package '?\S{1,80}'?,? (?:required by .{1,80})?,? ?(?:was )?not found|No package '\S{1,80}' found|Could not find a package configuration file|[Cc]ould (?:not|NOT) find (?!method|file|property|setting|a part|Chrome|artifact)\S{1,60}(?: \(|$)|Package requirements \(.{1,200}\) were not met|configure: error:|fatal error: [\w./+-]{1,160}\.h(?:pp|h|xx)?: No such file|'[\w./+-]{1,160}\.h(?:pp)?' file not found|cannot find -l\w|cannot find -l|Unable to find the |not found in the pkg-config|Tests? requires? \S|is not available$|Did not find (?:CMake|pkg-config)|pdflatex|library .{1,60} (?:is )?not found|Please install|development (?:files|headers)|checking for .{1,80}\.\.\. no$/,
  ],
  [
    'shared-library-missing',
    'version_conflict',
    4.8,
    /cannot open shared object file|Library not loaded: |version `(?:GLIBC|GLIBCXX|CXXABI)_[\d.]{1,10}' not found|symbol lookup error|undefined symbol: |DLL load failed|wrong ELF class|NODE_MODULE_VERSION|was compiled against a different Node|invalid ELF header/,
  ],
  [
    'python-module-missing',
    'missing_module',
    4.2,
    /No module named|ModuleNotFoundError|Could not import extension/,
    { when: (fact, facts) => !isOwnModule(fact.text, facts) },
  ],
  [
    'node-module-missing',
    'missing_module',
    4.2,
    /Cannot find (?:module|package) '|Can't resolve '|Failed to resolve import|Could not resolve "|ERR_MODULE_NOT_FOUND|TS2307/,
    {
      when: (fact, facts) => missingModuleName(fact.text) !== null && !isOwnModule(fact.text, facts),
    },
  ],
  ['import-name-gone', 'version_conflict', 4, /cannot import name|ImportError: /, { when: namesPackage }],
  [
    'linkage-error',
    'version_conflict',
    5,
    /NoSuchMethodError|NoSuchFieldError|NoClassDefFoundError|AbstractMethodError|IncompatibleClassChangeError|ClassNotFoundException|LinkageError|ExceptionInInitializerError.{0,80}NoSuch|MissingMethodException|Could not load file or assembly|TypeLoadException|Could not load type/,
    { when: (fact) => !/javax[./]xml[./]bind/.test(fact.text) },
  ],
  ['class-file-version', 'version_conflict', 5, /class file has wrong version|bad class file:|class file contains wrong class/],
  [
    'keyword-of-other-version',
    'version_conflict',
    2.8,
    /unexpected keyword argument '|has no attribute '\w{1,60}'.{0,40}(?:module|partially)|module '\S{1,80}' has no attribute|is not exported (?:from|by) '?(?:node_modules|[a-z@])|does not provide an export named|got an unexpected keyword/,
  ],
  [
    'r-package',
    'missing_module',
    4.6,
    /there is no package called|namespace ‘.{1,60}’ .{1,60} (?:is required|already loaded)|is being loaded, but >= |dependenc(?:y|ies) ‘.{1,60}’ (?:is|are) not available|ERROR: dependenc(?:y|ies) /,
  ],
  ['java-command-missing', 'missing_module', 2, /no 'java' command could be found/],
  ['registry-has-no-version', 'dependency_install', 2, /[\s\S]/, { when: (fact) => isPublishedVersionMissing(fact.text) }],
]);

/** A resolver's complaint that is only the echo of a network failure belongs to the network. */
function notJustTheNetwork(fact: Fact): boolean {
  return !/Could not transfer artifact .{0,300}(?:timed out|reset|50[0234]|Connection)|status(?: code)? 50[0234]|Temporary failure/i.test(
    fact.text,
  );
}

function namesPackage(fact: Fact, facts: Facts): boolean {
  if (/ImportError: lib\S{1,80}\.so/.test(fact.text)) return true;
  return /cannot import name/.test(fact.text) && !isOwnModule(fact.text, facts);
}
