import { installKnown } from '../known-packages.ts';
import { defineRules, type RuleRow } from '../rule.ts';
import { GENERIC_COMPILE } from './symptoms.ts';

/** Rules for messages of pip and similar tools that no version fits or a package cannot be built. */
export const PYTHON_PACKAGE_RULES: readonly RuleRow[] = defineRules('DEPENDENCY_ERROR', {
  'pip-no-matching-distribution': {
    kind: 'dependency_install',
    strength: 5,
    patterns: [
      /No matching distribution found/,
      /Could not find a version that satisfies/,
      /Could not find suitable distribution/,
      /because there (?:is|are) no versions? of/,
      /No solution found when resolving/,
      /requires a different Python/,
    ],
    reads: [
      /No matching distribution found for (?<wanted>[^\s(;]{1,120})/,
      /satisfies the requirement (?<wanted>[^\s(;]{1,120})/,
      /requirement\.parse\('(?<wanted>[^'\n]{1,80})'\)/i,
      /No matching distribution found for (?<name>[\w.-]{1,80})/,
      /No matching distribution found for \S{1,80}?==(?<pinned>[\w.]{1,40})/,
      /(?:for|requirement) (?<windows>pywin32|pywinpty|pypiwin32|pyreadline3?|comtypes|wmi)\b/i,
      /\(from versions: (?<none>none)\)/,
      /require a different python version: (?<first>\S{1,40}) Requires-Python (?<firstNeeds>[^;\n]{1,40})/,
      /; (?<last>\S{1,40}) Requires-Python (?<lastNeeds>[^;\n]{1,40})$/,
      /Package '(?<refused>[^'\n]{1,80})' requires a different Python: (?<found>[\d.]{1,12}) not in (?<required>'[^'\n]{1,40}')/,
      /Because (?<absent>[\w.-]{1,80}(?:\[[\w,-]{1,40}\])?) was not found in the package registry/,
      /Because there is no version of (?<unpublished>[^\s,]{1,100}) and/,
      /Because only (?<only>[^\s,]{1,100}) is available and (?:you require|\S{1,80} depends on) (?<needs>[^\s,]{1,100})/,
      /current Python version \((?<found>[\d.]{1,12})\) does not satisfy Python(?<required>[><=~!,.\d]{2,40})/,
    ],
    title: [
      '{refused} needs Python {required}, but the job has {found}',
      '{windows} is published for Windows only',
      'pip cannot find a release that satisfies {wanted}',
      'The package {absent} is not in the package index',
      '{unpublished} is not in the package index',
      'The package index has only {only}, but {needs} is required',
      'A requirement needs Python {required}, but the job has {found}',
    ],
    cause: [
      '{refused} can be installed only with Python {required}, but the job runs Python {found}.',
      "The requirements include {wanted}, but {windows} has no release for the job's operating system.",
      (read) => explainOtherPython(read, 'cause'),
      'The requirements include {wanted}, but the package index has no release that satisfies it for ' +
        'this Python version; the newest is {nearest}.',
      'The requirements include {wanted}, but the package index has no release that satisfies it for ' +
        'this Python version.',
      'The requirements include {absent}, but the package index has no package with this name.',
      'The requirements include {unpublished}, but that release is not in the package index.',
      'The requirements include {needs}, but the package index has only {only}.',
      'The requirements can be installed only with Python {required}, but the job runs Python {found}.',
    ],
    fix: [
      [
        'configuration',
        'Set up a Python version in the range {required} in the job; it runs {found}, which {refused} ' +
          'does not support.',
      ],
      [
        'dependency',
        'Add the marker `; sys_platform == "win32"` to {windows} in the requirements, because it is ' +
          'published for Windows only.',
      ],
      ['configuration', (read) => explainOtherPython(read, 'fix')],
      [
        'dependency',
        '{wanted?}Pin {name} to a release that exists for this Python version, such as {nearest}.',
      ],
      [
        'dependency',
        '{none?}Correct {wanted} in the requirements, because the index has no release of it for this ' +
          'Python version.',
      ],
      ['dependency', 'Correct the name {absent} in the requirements, or add the index that provides it.'],
      ['dependency', 'Use a published release instead of {unpublished}.'],
      ['dependency', 'Change the requirement {needs} to a published release, because there is only {only}.'],
      ['configuration', 'Set up a Python version in the range {required} in the job; it runs {found}.'],
    ],
    outranks: [...GENERIC_COMPILE, 'path-missing'],
    matches: ['ERROR: No matching distribution found for pomology==9.9'],
    ignores: [
      'Requires-Python: >=3.9',
      '    python_requires=">=3.9",',
      'Requirement already satisfied: pear',
    ],
    says: [
      {
        log: 'ERROR: Could not find a version that satisfies the requirement pear==9.9 (from versions: 1.0, 1.1)\nERROR: No matching distribution found for pear==9.9',
        title: 'pip cannot find a release that satisfies pear==9.9',
        fix: 'Pin pear to a release that exists for this Python version, such as 1.1.',
      },
      {
        log: "ERROR: Package 'scales' requires a different Python: 3.9.25 not in '>=3.10'",
        title: 'scales needs Python >=3.10, but the job has 3.9.25',
        fix:
          'Set up a Python version in the range >=3.10 in the job; it runs 3.9.25, which scales does not ' +
          'support.',
      },
      {
        log: 'ERROR: Ignored the following versions that require a different python version: 3.5 Requires-Python >=3.11\nERROR: Could not find a version that satisfies the requirement pear==3.5 (from versions: 1.0, 3.4.2)\nERROR: No matching distribution found for pear==3.5',
        fix:
          'Run the job with Python >=3.11, which pear 3.5 requires, or pin pear to 3.4.2, the newest ' +
          'release for this Python version.',
      },
    ],
  },
  'pip-conflict': {
    kind: 'version_conflict',
    strength: 5,
    patterns: [
      /ResolutionImpossible|DistributionNotFound|version solving failed/,
      /have conflicting dependencies/,
      /Cannot install .{1,160} because these package versions/,
      /VersionConflict|SolverProblemError|UnsatisfiableError|PackagesNotFoundError|PluginValidationError/,
      /but you have .{1,80} which is incompatible/,
    ],
    reads: [
      /Cannot install (?<together>.{1,160}?) because/,
      /(?<by>[\w.-]{1,80}) (?<version>\d[\w.]{0,30}) requires (?<needs>[^\s,]{1,80}), but you have (?<has>[\w.-]{1,80} \d[\w.]{0,30}) which is incompatible/,
      /\b(?<dependent>[\w-]{1,40})(?: from (?:path|git|hosted))? depends on (?<flutterPackage>[\w-]{1,40})(?: [^\s]{1,20})? which requires the Flutter SDK/i,
      /\bbecause (?<project>\S{1,80}) requires SDK version (?<sdk>[^,\n]{1,40}?), version solving failed/i,
      /The current Dart SDK version is (?<dart>\d[\w.+-]{1,30}?)\.?$/,
      /\bBecause (?<project>\S{1,80}) depends on (?<unpublished>\S{1,80} \([^)\n]{1,60}\)) which doesn't match any versions/i,
      /not available from current channels:[\s-]{1,12}(?<conda>[\w.=<>-]{2,80})/,
    ],
    title: [
      '{flutterPackage} needs the Flutter SDK, which the job does not have',
      '{project} needs Dart {sdk}, but the job has {dart}',
      'No published version matches {unpublished}',
      "The job's conda channels do not have {conda}",
      'pip cannot install {clashAsked} alongside {clashBy}',
      'pip cannot install {clashFirstBy} alongside {clashBy}',
      '{by} {version} does not work with {has}',
      'pip cannot install {together} together',
    ],
    cause: [
      '{dependent} depends on {flutterPackage}, which requires the Flutter SDK, but the job resolves ' +
        'packages with Dart alone.',
      '{project} requires Dart {sdk}, but the job has Dart {dart}.',
      '{project} depends on {unpublished}, which no published version matches.',
      "The environment requires {conda}, but none of the job's channels has it for this platform.",
      '{clashBy} requires {clashNeeds}, but the requirements specify {clashAsked}. No version satisfies ' +
        'both.',
      '{clashFirstBy} requires {clashFirstNeeds}, but {clashBy} requires {clashNeeds}. No version ' +
        'satisfies both.',
      '{by} {version} requires {needs}, but {has} is installed.',
      'pip cannot find versions that satisfy the requirements of {together} together.',
    ],
    fix: [
      [
        'configuration',
        'Set up Flutter in the job instead of Dart alone, because {flutterPackage} requires the Flutter SDK.',
      ],
      [
        'configuration',
        'Set up a Dart SDK in the range {sdk} in the job (Flutter includes its own); the job has {dart}.',
      ],
      ['dependency', 'Change the requirement {unpublished} to a published version.'],
      ['dependency', 'Correct {conda} in the environment file, or add the channel that has it.'],
      [
        'dependency',
        'Change the requirement {clashAsked} to one that allows {clashNeeds}, or use another version of ' +
          '{clashOnly}.',
      ],
      ['dependency', 'Change the requirement {clashAsked} to one that allows {clashNeeds}.'],
      ['dependency', 'Install a release that satisfies {needs}, or a release of {by} that accepts {has}.'],
    ],
    outranks: [...GENERIC_COMPILE, 'path-missing'],
    matches: ['ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/'],
    ignores: [
      'Looking for conflicting dependencies ... none',
      'WARNING: pear 1.2 requires plum<2, but you have plum 2.0 which is incompatible.',
    ],
    says: [
      {
        log:
          'ERROR: Cannot install -r requirements.txt (line 2) and plum==1.4 because these package ' +
          'versions have conflicting dependencies.\n\nThe conflict is caused by:\n' +
          '    The user requested plum==1.4\n    pear[press] 3.1 depends on pear 3.1 (from registry)\n' +
          '    pear[press] 3.1 depends on plum>=2.0\n' +
          '\nERROR: ResolutionImpossible: for help visit https://pip.pypa.io/',
        title: 'pip cannot install plum==1.4 alongside pear[press] 3.1',
        fix:
          'Change the requirement plum==1.4 to one that allows plum>=2.0, or use another version of ' +
          'pear[press].',
      },
      {
        log:
          'ERROR: Cannot install pear==3.1, plum==1.4 and fig because these package versions have ' +
          'conflicting dependencies.\n\nThe conflict is caused by:\n    The user requested plum==1.4\n' +
          '    pear 3.1 depends on plum>=1.2\n    fig[jam] 2.1 depends on plum>=2.0; extra == "jam"\n' +
          '    fig[jam] 2.0 depends on plum>=2.0; extra == "jam"\n' +
          '\nERROR: ResolutionImpossible: for help visit https://pip.pypa.io/',
        title: 'pip cannot install plum==1.4 alongside fig[jam] 2.1',
        cause:
          'fig[jam] 2.1 requires plum>=2.0, but the requirements specify plum==1.4. No version ' +
          'satisfies both.',
        fix: 'Change the requirement plum==1.4 to one that allows plum>=2.0.',
      },
      {
        log:
          'ERROR: Cannot install pear==3.1 and fig==2.0 because these package versions have conflicting ' +
          'dependencies.\n\nThe conflict is caused by:\n    pear 3.1 depends on plum~=1.2\n' +
          '    fig 2.0 depends on plum<1.2,>=1.0\n' +
          '\nERROR: ResolutionImpossible: for help visit https://pip.pypa.io/',
        cause: 'pear 3.1 requires plum~=1.2, but fig 2.0 requires plum<1.2,>=1.0. No version satisfies both.',
      },
      {
        log:
          'Because scales depends on pear_press any which requires the Flutter SDK, version solving ' +
          'failed.',
        title: 'pear_press needs the Flutter SDK, which the job does not have',
        fix: 'Set up Flutter in the job instead of Dart alone, because pear_press requires the Flutter SDK.',
      },
    ],
  },
  'package-build-failed': {
    kind: 'dependency_install',
    strength: 3.6,
    patterns: [
      /Failed building wheel for/,
      /Failed to build \S{1,80}$/,
      /subprocess-exited-with-error|metadata-generation-failed|gyp ERR!|Failed to build gem native extension/,
      /failed to run custom build command for/,
      /ERROR: Failed to build installable wheels/,
    ],
    when: (_fact, facts) => facts.compileErrors.length === 0,
    reads: [
      /(?:Failed building wheel for |Failed to build `)(?<package>[\w.-]{1,80})/,
      /^[^\w\n]{0,12}ModuleNotFoundError: No module named '(?<buildModule>[\w.]{1,80})'/,
      /fatal error: (?<header>[\w./+-]{1,120}\.h(?:pp)?): No such file/,
      /(?<pgConfig>pg_config)(?: executable)? (?:is )?(?:not found|required)/,
      /(?<rust>can't find Rust compiler|Rust, the Rust compiler|is Cargo, the Rust package manager, installed)/i,
      /(?<msvc>Microsoft Visual C\+\+ \d\d\.\d or greater is required)/,
      /(?<mysql>pkg-config: not found|Specify MYSQLCLIENT_CFLAGS)/,
    ],
    title: [
      '{header?}{package} cannot be built because the header {header} is missing',
      '{rust?}{package} cannot be built without Rust',
      '{package} cannot be built without {buildModule}',
      '{package} cannot be built',
    ],
    cause: [
      'pip had to build {package} from source, but the compiler cannot find the header {header}.',
      '{rust?}pip had to build {package} from source, which requires a Rust compiler.',
      '{msvc?}pip had to build {package} from source, which requires the Microsoft compiler.',
      'The build script of {package} imports {buildModule}, which is not installed where the package is ' +
        'built.',
      'pip built {package} from source, and the build failed.',
    ],
    fix: [
      ['configuration', installKnown('header')],
      [
        'configuration',
        'Install the system package that provides {header} before building {package}, or use a release ' +
          'of {package} with a wheel.',
      ],
      [
        'configuration',
        '{pgConfig?}Install libpq-dev before this step, or depend on psycopg2-binary; pg_config is missing.',
      ],
      [
        'configuration',
        '{rust?}Install Rust in the job, or use a release of {package} with a wheel for this Python version.',
      ],
      [
        'configuration',
        'Install {buildModule} before {package} is built, or use a release of {package} that declares ' +
          '{buildModule} as a build requirement.',
      ],
      [
        'configuration',
        '{msvc?}Use a Python version with a wheel for {package}, or install the Microsoft C++ Build Tools.',
      ],
    ],
    matches: ['ERROR: Failed building wheel for pear'],
    ignores: ['node-gyp is installed', 'Building wheel for pear (setup.py): finished'],
    says: [
      {
        log: "error: can't find Rust compiler\nERROR: Failed building wheel for pear",
        title: 'pear cannot be built without Rust',
        fix: 'Install Rust in the job, or use a release of pear with a wheel for this Python version.',
      },
      {
        log: [
          '  × Failed to build `pear==2.7.4`',
          '  ├─▶ The build backend returned an error',
          '  ╰─▶ Call to `setuptools.build_meta:__legacy__.build_wheel` failed (exit status: 1)',
          '',
          '      [stderr]',
          '      Traceback (most recent call last):',
          '        File "<string>", line 8, in <module>',
          "      ModuleNotFoundError: No module named 'scales'",
        ].join('\n'),
        title: 'pear cannot be built without scales',
        fix:
          'Install scales before pear is built, or use a release of pear that declares scales as a build ' +
          'requirement.',
      },
    ],
  },
});

/**
 * Explains that a pinned release is only for another version of Python, if pip lists it among the ignored
 * ones.
 */
function explainOtherPython(read: (slot: string) => string | null, part: 'cause' | 'fix'): string | null {
  const [name, pinned] = [read('name'), read('pinned')];
  if (name === null || pinned === null) return null;
  const needs =
    read('first') === pinned ? read('firstNeeds') : read('last') === pinned ? read('lastNeeds') : null;
  if (needs === null) return null;
  if (part === 'cause')
    return `The requirements pin ${name} ${pinned}, which requires Python ${needs}, but the job runs a different version.`;
  const nearest = read('nearest');
  const other =
    nearest === null ? '' : `, or pin ${name} to ${nearest}, the newest release for this Python version`;
  return `Run the job with Python ${needs}, which ${name} ${pinned} requires${other}.`;
}
