import { defineRules, type RuleRow } from '../rule.ts';
import { GENERIC_COMPILE } from './symptoms.ts';

/**
 * Rules for a wrong or missing compiler, interpreter or SDK, and for project files that are not where a tool
 * looks for them.
 */
export const TOOLCHAIN_RULES: readonly RuleRow[] = defineRules('CONFIG_ERROR', {
  'sdk-missing': {
    kind: 'environment',
    strength: 4.6,
    patterns: [
      /A compatible \.NET SDK was not found/,
      /You must install or update \.NET to run/,
      /\b(?:NETSDK1045|MSB3644)\b/,
      /SDK location not found/,
      /have not accepted the license agreements/,
      /Failed to find (?:target with hash string|Build Tools revision)/,
      /Unable to find a destination matching/,
      /xcrun: error: (?:unable to find utility|invalid active developer path)/,
      /toolchain '[^']{1,80}' is not installed/,
      /error: linker `[^`]{1,60}` not found/,
      /cgo: C compiler "[^"]{1,60}" not found/,
      /No CMAKE_\w{1,10}_COMPILER could be found/,
      /InterpreterNotFound|could not find python interpreter|error: externally-managed-environment/,
      /No virtual environment found; run `uv venv`/,
    ],
    reads: [
      /(?<licenses>have not accepted the license agreements)/,
      /linker `(?<linker>[^`\n]{1,60})` not found/,
      /C compiler "(?<compiler>[^"\n]{1,60})" not found/,
      /No (?<cmake>CMAKE_\w{1,10}_COMPILER) could be found/,
      /(?<managed>externally-managed-environment)/,
      /(?<noVenv>No virtual environment found; run `uv venv`)/,
      /(?<android>SDK location not found)/,
      /toolchain '(?<toolchain>[^'\n]{1,80})' is not installed/,
      /target with hash string '(?<platform>android-[\w.]{1,20})'/,
      /Build Tools revision (?<buildTools>[\d.]{1,20})/,
      /could not find python interpreter[^\n]{0,40}['"](?<python>[\w./]{1,60})['"]/,
      /InterpreterNotFound: (?<python>[\w.]{1,40})/,
      /Requested SDK version: (?<dotnet>[\w.-]{1,30})/,
    ],
    title: [
      '{noVenv?}uv cannot find a virtual environment',
      '{managed?}pip is not allowed to change the system Python',
      '{android?}The build cannot find the Android SDK',
      '{licenses?}The Android SDK licenses have not been accepted',
      'The linker {linker} cannot be found',
      'The C compiler {compiler} cannot be found',
      '{cmake?}CMake cannot find a compiler',
      'The Rust toolchain {toolchain} is not installed',
      '{python} is not installed in the job',
      'The .NET SDK {dotnet} is not installed in the job',
    ],
    cause: [
      '{noVenv?}uv installs into a virtual environment unless told otherwise, but the step has none.',
      '{managed?}pip refused to install into the system Python, which the operating system manages itself.',
      '{android?}Gradle builds for Android, but neither ANDROID_HOME nor local.properties locates the SDK.',
      'The build requests the .NET SDK {dotnet}, which is not installed in the job.',
      'rustc calls the linker {linker}, which is not installed in the job.',
    ],
    fix: [
      ['configuration', '{noVenv?}Run `uv venv` before this step, or pass `--system` to `uv pip install`.'],
      [
        'configuration',
        '{managed?}Install into a virtual environment (`python -m venv .venv`), or set up a separate ' +
          'Python in the job.',
      ],
      ['configuration', '{android?}Set up the Android SDK in the job and set ANDROID_HOME.'],
      ['configuration', '{licenses?}Run `yes | sdkmanager --licenses` in the job before the build.'],
      [
        'configuration',
        'Install the C toolchain in the job (`build-essential` on Debian and Ubuntu), which provides the ' +
          'linker {linker}.',
      ],
      [
        'configuration',
        'Install the C compiler {compiler} in the job (`build-essential` on Debian and Ubuntu).',
      ],
      ['configuration', '{cmake?}Install a C compiler in the job, because CMake found no {cmake}.'],
      ['configuration', 'Run `rustup toolchain install {toolchain}` in an earlier step.'],
      ['configuration', 'Install the Android SDK platform {platform} in the job (`sdkmanager`).'],
      ['configuration', 'Install the Android SDK build tools {buildTools} in the job (`sdkmanager`).'],
      ['configuration', 'Set up {python} in the job, or remove it from the list of environments.'],
      ['configuration', 'Set up the .NET SDK {dotnet} in the job, or change the version in global.json.'],
    ],
    matches: [
      'A compatible .NET SDK was not found.',
      'SDK location not found. Define a valid SDK location with an ANDROID_HOME environment variable',
      "error: toolchain 'nightly-2020-01-01' is not installed",
      'error: linker `cc` not found',
      'ERROR:  py38: InterpreterNotFound: python3.8',
    ],
    ignores: [
      "info: toolchain 'nightly-2020-01-01' is not installed, installing",
      'You have not accepted the license agreements yet, accepted now: ok',
    ],
    says: [
      {
        log: 'error: linker `cc` not found',
        fix:
          'Install the C toolchain in the job (`build-essential` on Debian and Ubuntu), which provides ' +
          'the linker cc.',
      },
      {
        log: 'CMake Error: No CMAKE_CXX_COMPILER could be found.',
        fix: 'Install a C compiler in the job, because CMake found no CMAKE_CXX_COMPILER.',
      },
      {
        log: "> Failed to find target with hash string 'android-36' in: /srv/android",
        fix: 'Install the Android SDK platform android-36 in the job (`sdkmanager`).',
      },
      {
        log: '> Failed to find Build Tools revision 36.0.0',
        fix: 'Install the Android SDK build tools 36.0.0 in the job (`sdkmanager`).',
      },
    ],
  },
  'tool-of-wrong-version': {
    kind: 'environment',
    strength: 4.6,
    patterns: [
      /CMake \d[\d.]{0,10} or higher is required\. +You are running/i,
      /^Your Ruby version is \S{1,20}, but your Gemfile specified/i,
      /Your Composer dependencies require a PHP version/i,
      /Could not determine java version from/i,
      /Inconsistent JVM[- ]target compatibility detected/i,
      /ERR_PNPM_UNSUPPORTED_ENGINE/i,
      /ERR_OSSL_EVP_UNSUPPORTED|digital envelope routines::unsupported/i,
      /requires SDK version/i,
      /can't load config: the Go language version/i,
    ],
    reads: [
      /(?<tool>CMake) (?<least>\d[\d.]{0,10}) or higher is required\./,
      /You are running version (?<present>\d[\d.]{0,10}\d)/,
      /Your (?<tool>Ruby) version is (?<present>[\d.]{1,12}), but your Gemfile specified (?<least>\S{1,20})/,
      /require an? (?<tool>PHP) version "(?<least>[^"\n]{1,40})"\. You are running (?<present>[\d.]{1,12}\d)/,
      /requires (?<tool>SDK) version (?<least>[^,\n]{1,40}?)(?:,|$)/,
      /Could not determine java version from '?(?<java>[\d.+_]{1,20}\d)/,
      /(?<openssl>ERR_OSSL_EVP_UNSUPPORTED|digital envelope routines::unsupported)/,
      /the Go language version \((?<builtWith>go[\d.]{1,12})\) used to build (?<linter>[\w-]{1,60}) is lower/,
      /is lower than the targeted Go version \((?<target>[\d.]{1,12})\)/,
      /"(?<engine>\w{2,20})" is incompatible.{0,40}Expected version: (?<least>\S{1,40})/,
    ],
    title: [
      'The job has {tool} {present}, but {least} is required',
      '{linter} was built with {builtWith}, but the module needs Go {target}',
      '{openssl?}The bundler needs a hash function that OpenSSL 3 no longer has',
      "The project's Gradle is too old for Java {java}",
    ],
    cause: [
      'The project requires {tool} {least}, but the job has {present}.',
      '{linter} was built with {builtWith} and rejects the module, which is written for Go {target}.',
      '{openssl?}The bundler calls a hash function that OpenSSL 3 (Node 17 and later) no longer offers.',
      'The Gradle version that the wrapper starts does not support Java {java}.',
    ],
    fix: [
      ['configuration', 'Set up {tool} {least} in the job, which has {present}.'],
      ['configuration', 'Use a release of {linter} that was built with Go {target} or newer.'],
      ['dependency', '{openssl?}Upgrade the bundler, or set `NODE_OPTIONS` to `--openssl-legacy-provider`.'],
      [
        'configuration',
        'Upgrade the Gradle wrapper to a release that supports Java {java}, or set up an older JDK.',
      ],
    ],
    matches: [
      'CMake 3.28 or higher is required.  You are running version 3.16.3',
      'Your Ruby version is 3.1.0, but your Gemfile specified 3.3.0',
      'Could not determine java version from 21.0.1.',
      'Error: error:0308010C:digital envelope routines::unsupported',
    ],
    ignores: ['The current Dart SDK version is 3.4.0.', 'CMake 3.28 or higher is required'],
    says: [
      {
        log: 'Your Ruby version is 3.1.0, but your Gemfile specified 3.3.0',
        title: 'The job has Ruby 3.1.0, but 3.3.0 is required',
        fix: 'Set up Ruby 3.3.0 in the job, which has 3.1.0.',
      },
      {
        log: 'CMake 3.28 or higher is required.  You are running version 3.16.3',
        fix: 'Set up CMake 3.28 in the job, which has 3.16.3.',
      },
      {
        log: "Could not determine java version from '21.0.1'.",
        fix: 'Upgrade the Gradle wrapper to a release that supports Java 21.0.1, or set up an older JDK.',
      },
      {
        log:
          "Error: can't load config: the Go language version (go1.22) used to build pearlint is lower " +
          'than the targeted Go version (1.24.1)',
        cause: 'pearlint was built with go1.22 and rejects the module, which is written for Go 1.24.1.',
        fix: 'Use a release of pearlint that was built with Go 1.24.1 or newer.',
      },
      {
        log: 'Your Composer dependencies require a PHP version ">= 8.3.0". You are running 8.1.2.',
        fix: 'Set up PHP >= 8.3.0 in the job, which has 8.1.2.',
      },
      {
        log: 'Error: error:0308010C:digital envelope routines::unsupported',
        fix: 'Upgrade the bundler, or set `NODE_OPTIONS` to `--openssl-legacy-provider`.',
      },
    ],
  },
  'project-file-missing': {
    kind: 'missing_file',
    strength: 4.4,
    patterns: [
      /go\.mod file not found in current directory/,
      /go: cannot find main module/,
      /Could not locate Gemfile/,
      /\bMSB(?:1003|1009|4019)\b/,
      /make: \*\*\* No targets specified and no makefile found/,
      /could not find `Cargo\.toml` in/,
      /Could not find or load main class org\.gradle\.wrapper\.GradleWrapperMain/,
      /Composer could not find a composer\.json file/,
      /does not contain a scheme named/,
      /Neither 'setup\.py' nor 'pyproject\.toml' found/,
      /needed by '[^']{1,200}', missing and no known rule to make it/,
    ],
    reads: [
      /(?<goMod>go\.mod file not found|go: cannot find main module)/,
      /(?<gemfile>Could not locate Gemfile)/,
      /(?<makefile>no makefile found)/,
      /could not find `(?<cargo>Cargo\.toml)` in/,
      /(?<wrapper>org\.gradle\.wrapper\.GradleWrapperMain)/,
      /find a (?<composer>composer\.json) file/,
      /does not contain a scheme named "?(?<scheme>[^".\n]{1,80})/,
      /Switch: (?<solution>[\w./\\-]{1,160})/,
      /needed by '(?<target>[^'\n]{1,160})', missing and no known rule/,
      /ninja: error: '(?<input>[^'\n]{1,160})', needed by/,
    ],
    title: [
      '{goMod?}There is no go.mod where the step runs',
      '{gemfile?}There is no Gemfile where the step runs',
      '{makefile?}There is no makefile where make runs',
      'There is no {cargo} where cargo runs',
      '{wrapper?}The Gradle wrapper is not committed',
      'There is no {composer} where Composer runs',
      'The project has no scheme {scheme}',
      'The project file {solution} does not exist',
      'Ninja has no rule to make {input}',
    ],
    cause: [
      "{goMod?}Go looked for go.mod in the step's folder and its parent folders, and found none.",
      '{wrapper?}gradlew needs gradle/wrapper/gradle-wrapper.jar, which is not in the checkout.',
      'The step builds {solution}, which does not exist.',
      '{target} needs {input}, which does not exist and which no rule makes.',
    ],
    fix: [
      [
        'code',
        '{wrapper?}Commit gradle/wrapper/gradle-wrapper.jar (`gradle wrapper`); .gitignore may exclude it.',
      ],
      [
        'configuration',
        '{goMod?}Run the step in the folder that contains go.mod (`working-directory`), or create it ' +
          'with `go mod init`.',
      ],
      [
        'configuration',
        '{gemfile?}Run the step in the folder that contains the Gemfile (`working-directory`).',
      ],
      [
        'configuration',
        '{cargo?}Run cargo in the folder that contains Cargo.toml, or pass `--manifest-path`.',
      ],
      [
        'configuration',
        '{composer?}Run Composer in the folder that contains composer.json, or pass `--working-dir`.',
      ],
      [
        'configuration',
        'Share the scheme {scheme} and commit it, or correct its name in the call to xcodebuild.',
      ],
      ['configuration', 'Correct the path {solution} in the step.'],
      ['configuration', '{makefile?}Run make in the folder that contains the makefile (`make -C`).'],
      [
        'code',
        'Commit {input}, generate it before the build, or correct its path, because {target} needs it.',
      ],
    ],
    outranks: GENERIC_COMPILE,
    matches: [
      'go: go.mod file not found in current directory or any parent directory; see go help modules',
      'MSBUILD : error MSB1009: Project file does not exist.',
      'make: *** No targets specified and no makefile found.  Stop.',
      'Error: Could not find or load main class org.gradle.wrapper.GradleWrapperMain',
    ],
    ignores: ['go: go.mod file found in /build', '✓ tells MSB1009'],
    says: [
      {
        log: 'Error: Could not find or load main class org.gradle.wrapper.GradleWrapperMain',
        title: 'The Gradle wrapper is not committed',
        fix: 'Commit gradle/wrapper/gradle-wrapper.jar (`gradle wrapper`); .gitignore may exclude it.',
      },
      {
        log: 'make: *** No targets specified and no makefile found.  Stop.',
        fix: 'Run make in the folder that contains the makefile (`make -C`).',
      },
      {
        log: "ninja: error: 'src/pear.c', needed by 'scales', missing and no known rule to make it",
        fix: 'Commit src/pear.c, generate it before the build, or correct its path, because scales needs it.',
      },
    ],
  },
  'build-script-broken': {
    kind: 'workflow_config',
    strength: 3.8,
    patterns: [
      /A problem occurred evaluating (?:root project|project|settings|script)/,
      /Could not compile (?:build file|settings file)/,
      /(?:ERROR|InstallationError): Invalid requirement: /,
      /CMake Error: Could not create named generator/,
      /● Validation Error/,
      /ESLint couldn't find (?:a|an|the) (?:configuration|config|eslint\.config)/,
      /django\.core\.exceptions\.ImproperlyConfigured/,
      /Blocked mirror for repositories/,
    ],
    reads: [
      /Invalid requirement: ['"]?(?<requirement>[^'"\n]{1,100})/,
      /\(from line (?<requirementRow>\d{1,6}) of (?<requirements>[\w./-]{1,160})\)/,
      /Blocked mirror for repositories: \[(?<blocked>[\w.-]{1,80} \(http:[^,)\s]{1,160})/,
      /couldn't find (?:a|an|the) (?<eslint>eslint\.config)/,
      /Build file '(?:\/home\/runner\/work\/[^/\s]{1,100}\/[^/\s]{1,100}\/)?(?<script>[\w./-]{1,160})' line: (?<row>\d{1,6})/,
    ],
    title: [
      'pip does not understand the requirement “{requirement}”',
      'Maven blocks the repository {blocked}), which does not use TLS',
      '{eslint?}ESLint cannot find a configuration',
      '{script} fails at line {row}',
    ],
    cause: [
      'pip cannot parse the requirement “{requirement}”.',
      'Maven blocks repositories that are accessed over http, such as {blocked}).',
      '{eslint?}ESLint 9 and later read eslint.config.js, but the project has none.',
    ],
    fix: [
      ['configuration', 'Correct line {requirementRow} of {requirements}, which is not a valid requirement.'],
      ['configuration', 'Correct the requirement “{requirement}”.'],
      [
        'configuration',
        'Use https for the repository {blocked}), or remove the repository, because Maven blocks http.',
      ],
      [
        'configuration',
        '{eslint?}Add an eslint.config.js, or pin ESLint 8 while the project has an .eslintrc.',
      ],
      ['configuration', 'Start at line {row} of {script}.'],
    ],
    matches: ["A problem occurred evaluating root project 'scales'."],
    ignores: ['Validation: ok', '● Validation Warning:'],
    says: [
      {
        log: "ERROR: Invalid requirement: 'pear=>1': Expected end (from line 4 of requirements/dev.txt)",
        fix: 'Correct line 4 of requirements/dev.txt, which is not a valid requirement.',
      },
    ],
  },
  'package-sources-broken': {
    kind: 'workflow_config',
    strength: 4.4,
    patterns: [
      /E: (?:Type '[^']{0,80}' is not known on line|Malformed (?:entry|line|stanza)|The list of sources could not be read)/,
      /E: The repository '[^']{1,300}' (?:does not have a Release file|is no longer signed|is not signed)/,
    ],
    reads: [
      /on line (?<row>\d{1,6}) in source list (?<list>\S{1,160})/,
      /E: The repository '(?<repository>[^'\n]{1,160})' (?<why>does not have a Release file|is no longer signed|is not signed)/,
    ],
    title: ['{list} is malformed at line {row}', 'An apt package source cannot be used'],
    cause: [
      'apt cannot read line {row} of {list}.',
      'apt rejects the repository {repository} because it {why}.',
    ],
    fix: [
      ['configuration', 'Fix line {row} of {list} in the step that writes it.'],
      [
        'configuration',
        'Remove the repository {repository}, or use one for this release of the system, because it {why}.',
      ],
    ],
    matches: [
      "E: Type 'orchard' is not known on line 4 in source list /etc/apt/sources.list",
      "E: The repository 'https://deb.orchard.example pear Release' does not have a Release file.",
    ],
    ignores: [
      'Get:4 https://deb.orchard.example pear Release [4711 B]',
      "W: The repository 'https://deb.orchard.example pear Release' is not signed.",
    ],
  },
  'database-not-ready': {
    kind: 'environment',
    strength: 4,
    patterns: [
      /ActiveRecord::(?:NoDatabaseError|PendingMigrationError|DatabaseConnectionError)/,
      /^\W{0,4}Migrations are pending\. To resolve/,
      /no such table: /,
    ],
    reads: [
      /(?:could not find your database: |database ")(?<database>[\w.-]{1,80}?)(?:"|\.(?: |$)|$)/,
      /(?<pending>PendingMigrationError|Migrations are pending)/,
      /no such table: (?<table>[\w.]{1,80})/,
    ],
    title: [
      'The database {database} does not exist',
      '{pending?}Database migrations are pending',
      'The database does not have the table {table}',
    ],
    cause: [
      'The step connects to the database {database}, which does not exist.',
      "{pending?}The job's database was not migrated before the tests.",
      "The step reads the table {table}, which the job's database does not have, because its schema was " +
        'not loaded or is outdated.',
    ],
    fix: [
      [
        'configuration',
        '{pending?}Run the migrations (`bin/rails db:migrate RAILS_ENV=test`) in the job before this step.',
      ],
      ['configuration', 'Create the database {database} in the job before this step.'],
      [
        'configuration',
        'Run the migrations in the job before this step, because the table {table} does not exist.',
      ],
    ],
    matches: ['ActiveRecord::NoDatabaseError: We could not find your database: scales_test.'],
    ignores: ['Migrations are pending: none, ok', '== CreatePears: migrated (0.0012s)'],
  },
  'url-not-found': {
    kind: 'missing_file',
    strength: 3,
    patterns: [
      /The requested URL returned error: 404/,
      /ERROR 404: Not Found/,
      /server returned error: HTTP\/1\.1 404/,
    ],
    reads: [/(?:^|[\s'"(<])(?<url>https?:\/\/[^\s'")>]{6,150})/],
    title: 'The server returned 404 for a download',
    cause: 'The step downloads {url}, which does not exist (404).',
    fix: [['configuration', correctAddress]],
    matches: ['curl: (22) The requested URL returned error: 404'],
    ignores: ['HTTP/1.1 200 OK', '✓ server returned error: 404'],
    says: [
      {
        log: [
          '##[group]Run curl -fsSO https://orchard.example/pears.tgz',
          'curl -fsSO https://orchard.example/pears.tgz',
          'shell: /usr/bin/bash -e {0}',
          '##[endgroup]',
          'curl: (22) The requested URL returned error: 404',
          '##[error]Process completed with exit code 22.',
        ].join('\n'),
        fix: 'Correct the URL in `curl -fsSO https://orchard.example/pears.tgz` (404).',
      },
    ],
  },
});

/**
 * Advises on a URL if the project's own call has it. Returns null otherwise, because a step requests many
 * URLs.
 */
function correctAddress(read: (slot: string) => string | null): string | null {
  const [url, command] = [read('url'), read('command')];
  if (url === null || command?.includes(url) !== true) return null;
  return `Correct the URL in \`${command}\` (404).`;
}
