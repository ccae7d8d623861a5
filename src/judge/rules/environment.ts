import { defineRules, type RuleRow } from '../rule.ts';
import { MISSING_PROGRAM } from './missing-program.ts';
import { GENERIC_COMPILE } from './symptoms.ts';

/** Rules for what a step expects of its machine: variables, programs, versions and services. */
export const ENVIRONMENT_RULES: readonly RuleRow[] = defineRules('CONFIG_ERROR', {
  'variable-missing': {
    kind: 'environment',
    strength: 4,
    patterns: [
      /\b[A-Z][A-Z0-9_]{3,60}\b:? (?:environment variable )?(?:is not set|not set|must be set|is unset|is required|unbound variable|is not defined|parameter (?:null or )?not set)/,
      /(?:[Ee]nvironment|env) variables? [^\n]{0,80}(?:missing|not (?:set|found|defined)|required|undefined)/,
      /[Mm]issing (?:required )?(?:env|environment|configuration)\b/,
      /KeyError: ['"][A-Z][A-Z0-9_]{3,60}['"]/,
      /^.{0,99}(?:, |to |must |lease )set (?:an?|the|your) [A-Z][A-Z0-9_]{3,60} environment variable/,
      /^\S{1,40} has been (?:executed|run) with an? [A-Z][A-Z0-9_]{3,60} environment variable set/,
    ],
    reads: [
      /\b(?!\w{1,60}_(?:CFLAGS|LIBS)\b|(?:TERM|DISPLAY|JAVA_HOME|DEBIAN_FRONTEND|ERROR|WARNING|FATAL|NOTE)\b)(?<missing>[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,6}|[A-Z]{4,40})\b[^\n]{0,60}(?:not set|must be set|unset|required|not defined|unbound|missing)/,
      /\bset (?:an?|the|your) (?<missing>[A-Z][A-Z0-9_]{3,60}) environment variable/,
      /[Mm]issing (?:required )?env(?:ironment)? var(?:iable)?s?: ['"`]?(?<missing>[A-Z][A-Z0-9_]{3,60})/,
      /[Ee]nvironment variables? (?:is |was )?not (?:found|set|defined): ['"`]?(?<missing>[A-Z][A-Z0-9_]{3,60})/,
      /KeyError: ['"](?<missing>[A-Z][A-Z0-9_]{3,60})['"]/,
      /variables? ['"`]?(?<missing>[A-Z][A-Z0-9_]{3,60})['"`]? (?:is|was|are|must|not|missing)\b/,
    ],
    title: 'The environment variable {missing} is not set',
    cause: [
      '`{command}` needs the environment variable {missing}, but the job does not set it.',
      'The step needs the environment variable {missing}, but the job does not set it.',
    ],
    fix: [
      ['configuration', 'Set the variable {missing} for the step that needs it, or give it a default value.'],
    ],
    matches: ['Error: Environment variable SCALES_URL is not set'],
    ignores: [
      'env:\n  SCALES_URL: https://orchard.example',
      'SCALES_URL is required in production only, skipping',
    ],
    says: [
      {
        log: 'Error: Environment variable SCALES_URL is not set',
        title: 'The environment variable SCALES_URL is not set',
        fix: 'Set the variable SCALES_URL for the step that needs it, or give it a default value.',
      },
    ],
  },
  'exit-127': {
    kind: 'environment',
    strength: 2.2,
    patterns: [/(?:exit|error)(?:ed with)? (?:code|status):? 127\b/],
    matches: ['##[error]Process completed with exit code 127.'],
    ignores: ['exit code 1270 is not used'],
  },
  'command-not-found': {
    kind: 'environment',
    strength: 4.2,
    patterns: [
      // The log may be truncated in the middle of this message.
      /: command not fou(?:$|n$|nd(?!["'\\,]))/i,
      /^\S{1,200}: (?:line )?\d{1,6}: (?:\/\S{1,200}: )?\S{1,60}: not found$/i,
      /^(?:\S{0,40}\/)?(?:ba|da|a|z|k)?sh: \S{1,60}: not found$/i,
      /is not recognized as (?:an (?:internal|external)|a name|the name)/i,
      /executable file not found in/i,
      /No such file or directory: '(?:[\w+-]{1,40})'$/i,
      /env: ['‘]?\S{1,60}['’]?: No such file/i,
      /spawn \S{1,80} ENOENT/i,
      /Cannot run program "/i,
      /program not found/i,
      /Unable to locate executable/i,
      /must be installed to/i,
    ],
    ...MISSING_PROGRAM,
    matches: [
      './ci/pack.sh: line 3: fruitctl: command not found',
      './ci/pack.sh: line 3: fruitctl: command not fou',
    ],
    ignores: [
      'command -v fruitctl || echo "fruitctl: command not found, using npx"',
      '✓ says command not found',
      'bash: no job control in this shell',
    ],
    says: [
      {
        log: './ci/pack.sh: line 3: fruitctl: command not found',
        title: 'The command fruitctl is not installed in the job',
        cause: 'ci/pack.sh calls fruitctl, but that command is not installed in the job.',
        fix: 'Install fruitctl in an earlier step of the job, or use an image that has it.',
      },
      {
        log: './ci/pack.sh: line 3: docker-compose: command not found',
        fix: 'Call `docker compose` instead; it replaced docker-compose, which is not installed in the job.',
      },
      {
        log: "/usr/bin/env: 'bash\\r': No such file or directory",
        title: 'A script has Windows line endings',
        fix: 'Commit the script with LF line endings, and set `*.sh text eol=lf` in .gitattributes.',
      },
    ],
  },
  'wrong-runtime-version': {
    kind: 'environment',
    strength: 4.2,
    patterns: [
      /The engine "node" is incompatible|incompatible with the (?:current )?(?:JDK|JVM)|Not compatible with your version of/,
      /Version \S{1,40} with arch \S{1,20} not found/,
      /requires go >= |requires rustc|rustc \d[\d.]{2,8} is not supported/,
      /toolchain not available|No matching toolchains|Could not find specification for target/,
      /minimum (?:required|supported) .{1,40} version/,
      /invalid (?:source|target) release|release version \d{1,3} not supported/,
      /Dependency requires at least JVM/,
      /Unsupported (?:engine|Java|class file major version)|UnsupportedClassVersionError|\bEBADENGINE\b/,
      /JAVA_HOME\b.{0,200}\b(?:is not|not (?:set|defined|found)|invalid|could not)/,
      /requires? (?:at least )?(?:Node(?:\.js)?|Python|Java|JDK|Go|Ruby|PHP|CMake|Gradle|Xcode)(?: version)? ?[><=^~]{0,2} ?v?\d/,
      /(?:go|Go) version .{1,40} (?:is too old|required)/,
      /Python version .{1,60} not/,
      /is not supported by this version of/,
      /(?:NoClassDefFoundError: |ClassNotFoundException: |package )javax[./]xml[./]bind/,
      /Value '.{1,200}' given for org\.gradle\.java\.home Gradle property is invalid/,
      /redefinition of module/,
      /Node\.js version .{1,40} (?:detected|required)/,
    ],
    reads: [
      /requires go >= (?<go>\S{1,20}) \(running go (?<goFound>\S{1,20}?)[;)]/,
      /Required: \{"node":"(?<node>[^"\n]{1,60})"/,
      /The engine "node" is incompatible with this module\. Expected version "(?<node>[^"\n]{1,60})"\. Got "(?<nodeFound>[^"\n]{1,30})"/,
      /Actual: {1,6}\{[^\n]{0,60}"node":"(?<nodeFound>[^"\n]{1,30})"/,
      /version of node\/npm: (?<who>\S{1,100})/,
      /invalid (?:source|target) release: (?<java>\d{1,3})/,
      /release version (?<java>\d{1,3}) not supported/,
    ],
    title: [
      'go.mod requires Go {go}, but the job runs Go {goFound}',
      'The job runs Node {nodeFound}, but Node {node} is required',
      "The job's JDK does not support Java {java}",
      '{member} needs {runtime} {demanded}, but the job runs {running}',
      '{member} needs {runtime} {demanded} or newer',
    ],
    cause: [
      'go.mod requires Go {go} or newer, but the job runs Go {goFound}.',
      '{who} allows only Node {node}, but the job runs Node {nodeFound}.',
      'A package requires Node {node}, but the job runs Node {nodeFound}.',
      "The build compiles for Java {java}, which the job's JDK does not support.",
      '{member} needs {runtime} {demanded} or newer, but the job runs {runtime} {running}.',
      '{member} needs {runtime} {demanded} or newer, but the job has an older version.',
    ],
    fix: [
      [
        'configuration',
        'Install Go {go} in the job, or lower the Go version in go.mod to a release that the job has.',
      ],
      [
        'configuration',
        "Use a Node version in the range {node} in the job. If the project's own package.json sets the " +
          'range, widen it there.',
      ],
      [
        'configuration',
        'Use a JDK that supports Java {java} in the job, or change the Java release that the build ' +
          'compiles for.',
      ],
      [
        'configuration',
        'Upgrade {runtime} in the job from {running} to {demanded} or newer, because {member} needs it.',
      ],
      ['configuration', 'Use {runtime} {demanded} or newer in the job, because {member} needs it.'],
    ],
    outranks: [...GENERIC_COMPILE, 'java-compilation-error', 'linkage-error', 'unknown-option'],
    matches: ['error: invalid source release: 21'],
    ignores: ['JAVA_HOME: /usr/lib/jvm/java-21', 'Picked up the environment'],
    says: [
      {
        log: 'error: release version 7 not supported',
        title: "The job's JDK does not support Java 7",
      },
    ],
  },
  'service-missing': {
    kind: 'environment',
    strength: 3.6,
    patterns: [
      /(?:database|role|relation) ".{1,80}" does not exist|Unknown database/,
      /failed: port is already allocated/,
      /\b(?:EADDRINUSE|NOAUTH)\b/,
      /[Aa]ddress already in use/,
      /could not select device driver/,
      /no DISPLAY|Missing X server|cannot open display|no supported GPU/,
      /container .{0,60}is unhealthy/,
      /Could not find Chrome|chrome not reachable|Executable doesn't exist at/,
      /locale .{0,40}not|unsupported locale setting/,
      /manager dying, exit status/,
      /not running as root|must be (?:run as )?root/,
    ],
    reads: [
      /database "(?<database>[^"\n]{1,80})" does not exist/,
      /Unknown database '(?<database>[^'\n]{1,80})'/,
      /role "(?<role>[^"\n]{1,80})" does not exist/,
      /(?:Bind for \S{1,40}:|EADDRINUSE.{0,60}:|listen tcp\d? \S{0,40}:)(?<port>\d{2,5})\b/,
      /(?<chrome>Could not find Chrome)/,
      /(?<playwright>Executable doesn't exist at)/,
      /(?<display>no DISPLAY|Missing X server|cannot open display)/i,
      /container (?<container>\S{1,60}) is unhealthy/,
    ],
    title: [
      'The database {database} does not exist',
      'The database role {role} does not exist',
      'Port {port} is already in use',
      '{playwright?}The Playwright browser is not installed',
      '{chrome?}Puppeteer cannot find Chrome',
      '{display?}The job has no display',
      'The container {container} is unhealthy',
    ],
    cause: [
      'The step connects to the database {database}, which does not exist on the server.',
      'The step logs in to the database as {role}, but the server has no role with that name.',
      'The step tries to listen on port {port}, which another process already uses.',
      '{playwright?}The tests start a Playwright browser, but the job did not install it.',
      '{chrome?}The step starts Chrome through Puppeteer, but the job did not install it.',
      '{display?}The step opens a window, but the job has no display.',
      'The container {container} did not become healthy, so services that depend on it were not started.',
    ],
    fix: [
      [
        'configuration',
        "Create the database {database} before this step, or correct its name in the job's settings.",
      ],
      [
        'configuration',
        'Log in with an existing database role instead of {role}, or create that role on the database ' +
          'server.',
      ],
      [
        'configuration',
        'Use a port other than {port} in the job, or stop the process that already listens on it.',
      ],
      [
        'configuration',
        '{playwright?}Install the browsers in the job before the tests: `npx playwright install ' +
          '--with-deps` (Python: `playwright install --with-deps`).',
      ],
      ['configuration', '{chrome?}Run `npx puppeteer browsers install chrome` in the job before this step.'],
      ['configuration', '{display?}Run the command under a virtual display: `xvfb-run -a {command}`.'],
      [
        'configuration',
        '{display?}Run the command under a virtual display (`xvfb-run -a`), or in headless mode.',
      ],
      ['configuration', 'Check the log of {container} (`docker logs`) for the reason.'],
    ],
    matches: ['FATAL:  database "scales_test" does not exist'],
    ignores: [
      'NOTICE:  relation "pears" does not exist, skipping',
      'Installing Chromium for playwright install',
    ],
    says: [
      {
        log: 'FATAL:  database "scales_test" does not exist',
        title: 'The database scales_test does not exist',
        fix: "Create the database scales_test before this step, or correct its name in the job's settings.",
      },
      {
        log: 'dependency failed to start: container scales-db-1 is unhealthy',
        fix: 'Check the log of scales-db-1 (`docker logs`) for the reason.',
      },
    ],
  },
});
