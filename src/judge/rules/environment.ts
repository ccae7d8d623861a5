import type { Fact, Facts } from '../facts.ts';
import { type RuleRow, ruleTable } from '../rule.ts';

/** What a step expects of its machine: variables, programs, versions, services, paths. */
export const ENVIRONMENT_RULES: readonly RuleRow[] = ruleTable('CONFIG_ERROR', {
  'variable-missing': {
    kind: 'environment',
    strength: 4,
    patterns: [
      /\b[A-Z][A-Z0-9_]{3,60}\b:? (?:environment variable )?(?:is not set|not set|must be set|is unset|is required|unbound variable|is not defined|parameter (?:null or )?not set)/,
      /(?:[Ee]nvironment|env) variables? [^\n]{0,80}(?:missing|not (?:set|found|defined)|required|undefined)/,
      /[Mm]issing (?:required )?(?:env|environment|configuration)\b/,
      /KeyError: ['"][A-Z][A-Z0-9_]{3,60}['"]/,
      /^\S{1,40} has been (?:executed|run) with an? [A-Z][A-Z0-9_]{3,60} environment variable set/,
    ],
    meets: ['Error: Environment variable SCALES_URL is not set'],
    spares: ['env:\n  SCALES_URL: https://orchard.example', 'SCALES_URL is required in production only, skipping'],
  },
  'exit-127': {
    kind: 'environment',
    strength: 2.2,
    patterns: [/(?:exit|error)(?:ed with)? (?:code|status):? 127\b/],
    meets: ['##[error]Process completed with exit code 127.'],
    spares: ['exit code 1270 is not used'],
  },
  'command-not-found': {
    kind: 'environment',
    strength: 4.2,
    patterns: [
      // A log may be cut off in the middle of a word.
      /: command not fou(?:$|n$|nd(?!["'\\,]))/i,
      /^\S{1,200}: (?:line )?\d{1,6}: \S{1,60}: not found$/i,
      /^(?:\S{0,40}\/)?(?:ba|da|a|z|k)?sh: \S{1,60}: not found$/i,
      /is not recognized as an (?:internal|name|external)/i,
      /executable file not found in/i,
      /No such file or directory: '(?:[\w+-]{1,40})'$/i,
      /env: ['‘]?\S{1,60}['’]?: No such file/i,
      /spawn \S{1,80} ENOENT/i,
      /Cannot run program "/i,
      /program not found/i,
      /Unable to locate executable/i,
      /must be installed to/i,
      /no job control/i,
    ],
    meets: ['./ci/pack.sh: line 3: fruitctl: command not found', './ci/pack.sh: line 3: fruitctl: command not fou'],
    spares: ['command -v fruitctl || echo "fruitctl: command not found, using npx"', '✓ says command not found'],
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
      /invalid (?:source|target) release|release version \d{1,3} not supported|Dependency requires at least JVM/,
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
    meets: ['error: invalid source release: 21'],
    spares: ['JAVA_HOME: /usr/lib/jvm/java-21', 'Picked up the environment'],
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
    meets: ['FATAL:  database "scales_test" does not exist'],
    spares: ['NOTICE:  relation "pears" does not exist, skipping', 'Installing Chromium for playwright install'],
  },
  'path-missing': {
    kind: 'missing_file',
    strength: 3.2,
    patterns: [
      /no such file\b|File not found/i,
      /can't open file|could not open|cannot (?:stat|access)|Unable to (?:open|read) file/i,
      /does not (?:exist|appear to be a)/i,
      /FileNotFound(?:Exception|Error)|NoSuchFileException|Cannot find path/i,
      /cannot find the (?:path|file)/i,
      /Could not find (?:file|a part of the path)/i,
      /Bad file: /i,
      /Couldn't download/i,
    ],
    when: isNotOfCode,
    meets: ["cp: cannot stat 'pears.csv': No such file or directory"],
    spares: [
      'javac: cannot access org.fruit.Pear',
      "Property 'pear' does not exist on type 'Basket'.",
      '✓ warns when the file does not exist',
      "rm: cannot remove 'pears.tmp': No such file or directory (ignored)",
    ],
  },
  'script-path-missing': {
    kind: 'missing_file',
    strength: 4.2,
    patterns: [
      /(?:^|[\s:])(?:\/\S{1,40}\/)?(?:ba|z|da|k)?sh: (?:line \d{1,5}: |\d{1,5}: )?(?:cd: |pushd: )?\S{1,200}: No such file or directory/i,
      /\.sh: (?:line )?\d{1,5}: (?:cd: |pushd: |source: |\.: )?\S{1,200}: No such file/i,
      /python3?: can't open file/i,
      /(?:cd|pushd|source|chmod|cat|cp|mv|tar): .{0,120}No such file/i,
      /Error: Cannot find module '\/\S{1,200}\.[cm]?js'$/i,
      /CMake Error: The source directory/i,
      /There is no POM in this directory/i,
      /Could not read package\.json/i,
      /no such file or directory, open '.{1,200}package\.json'/i,
      /stat \S{1,160}: no such file/i,
      /No such file or directory: '[^']{0,200}(?:\.ya?ml|\.toml|\.json|\.ini|\.cfg|\.env)'/i,
    ],
    meets: ['bash: ./ci/weigh.sh: No such file or directory'],
    spares: ['cat: pears.txt: No such file or directory (ignored)'],
  },
});

/** Neither an include, a library or a module that is missing, nor a file that a failing test itself looked for. */
function isNotOfCode(fact: Fact, facts: Facts): boolean {
  if (/\.(?:c|cc|cpp|h|hpp):\d|shared object|\.so\b|fatal error:|ModuleNotFound|Cannot find module/.test(fact.text)) return false;
  if (/package \S{1,160} does not exist|does not exist on type|cannot access (?!['"/.])/.test(fact.text)) return false;
  const thrown = fact.origin === 'test' || fact.origin === 'exception' || fact.origin === 'headline';
  return !(thrown && facts.subject.failingTests.length > 0);
}
