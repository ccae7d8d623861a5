import { type Rule, ruleTable, STRUCTURED } from '../rule.ts';

/** How the build is set up: workflow files, secrets, permissions, tools and paths chosen by us. */
export const SETUP_RULES: readonly Rule[] = ruleTable({ category: 'CONFIG_ERROR' }, [
  [
    'not-executable',
    'permission_or_secret',
    4.6,
    /\b[\w./-]{1,240}: [Pp]ermission denied$|exit (?:code|status) 126\b|(?:\.sh|\.py|gradlew|mvnw)['"]?:? [Pp]ermission denied|CreateProcess error=5/,
  ],
  [
    'file-permission',
    'permission_or_secret',
    3.4,
    /\bEACCES\b|[Pp]ermission denied|[Oo]peration not permitted|\bEPERM\b|Access (?:to the path )?.{0,120}is denied|AccessDeniedException|not writable/,
  ],
  [
    'secret-missing',
    'permission_or_secret',
    4.8,
    /\b[A-Z][A-Z0-9_]{2,60}(?:TOKEN|SECRET|KEY|PASSWORD|CREDENTIALS?|PASS|PAT)[A-Z0-9_]{0,30}\b[^\n]{0,60}(?:is not set|not set|is (?:required|missing|empty|undefined|unset)|must be (?:set|provided)|is not defined|environment variable is required|not provided|not found)|Input required and not supplied: |Parameter token or \S{1,40} is required|add it to the repository secrets|secrets?\.\w{1,60} (?:is )?(?:empty|missing|not)/,
  ],
  [
    'credentials-refused',
    'permission_or_secret',
    4.4,
    /Credentials could not be loaded|Bad credentials|Authentication failed|could not read (?:Username|Password)|Permission denied \(publickey|Permission to \S{1,120} denied to|Resource not accessible by integration|denied: (?:requested access|permission_denied|installation)|unauthorized: |pull access denied|\b40[13] (?:Unauthorized|Forbidden)|returned error: 40[13]|\bE40[13]\b|authentication required|Invalid (?:username|token|API key|credentials)|insufficient[_ ]scope|AccessDenied|not authorized to perform|Requires authentication|ENEEDAUTH|No credentials|Access denied for user|password authentication failed|no basic auth credentials|HTTP 40[13]\b|status(?: code)?:? 40[13]\b/i,
    { when: (fact) => !/rate limit/i.test(fact.text) },
  ],
  [
    'variable-missing',
    'environment',
    4,
    /\b[A-Z][A-Z0-9_]{3,60}\b:? (?:environment variable )?(?:is not set|not set|must be set|is unset|is required|unbound variable|is not defined|parameter (?:null or )?not set)|(?:[Ee]nvironment|env) variables? [^\n]{0,80}(?:missing|not (?:set|found|defined)|required|undefined)|[Mm]issing (?:required )?(?:env|environment|configuration)\b|KeyError: ['"][A-Z][A-Z0-9_]{3,60}['"]|NPM_TOKEN/,
  ],
  [
    'workflow-file',
    'workflow_config',
    4.8,
    /Invalid workflow file|error in your yaml syntax|Unexpected value ['"]|Unrecognized named-value|[Uu]nable to resolve action|Can't find 'action\.ya?ml'|Unable to find reusable workflow|workflow (?:file|syntax) .{0,60}(?:invalid|error)|WorkflowScript: \d{1,6}: |MultipleCompilationErrorsException|No such DSL method|Invalid (?:configuration|config) (?:file|object|option)|yaml\.(?:scanner|parser)\.\w{1,40}Error|while (?:parsing|scanning) a (?:block|flow|simple|quoted)|mapping values are not allowed|Jenkinsfile|did not find expected|\.gitlab-ci\.yml|could not find expected ':'|No event triggers defined|deprecated version of `?actions\//,
  ],
  [
    'artifact-clash',
    'workflow_config',
    4,
    /Failed to CreateArtifact|an artifact with this name already exists|non-retryable error|409 (?:Conflict|\(Conflict)|No files were found with the provided path|Unable to (?:find|download) artifact|Artifact not found/i,
  ],
  [
    'git-reference',
    'workflow_config',
    4,
    /fatal: invalid reference|pathspec '.{1,120}' did not match|couldn't find remote ref|Remote branch .{1,120} not found|\[rejected\]|\[remote rejected\]|not a git repository|reference is not a tree|protected branch|No url found for submodule|detected dubious ownership|failed to push some refs|Updates were rejected|shallow update not allowed|unknown revision or path not in the working tree/i,
  ],
  [
    'command-not-found',
    'environment',
    4.2,
    /command not found|: not found$|is not recognized as an (?:internal|name|external)|exit (?:code|status) 127\b|executable file not found in|No such file or directory: '(?:[\w+-]{1,40})'$|env: ['‘]?\S{1,60}['’]?: No such file|spawn \S{1,80} ENOENT|Cannot run program "|program not found|Unable to locate executable|must be installed to|no job control|error code 127/i,
  ],
  [
    'wrong-runtime-version',
    'environment',
    4.2,
    /invalid (?:source|target) release|release version \d{1,3} not supported|Unsupported class file major version|UnsupportedClassVersionError|has been compiled by a more recent version|JAVA_HOME|requires? (?:at least )?(?:Node(?:\.js)?|Python|Java|JDK|Go|Ruby|PHP|CMake|Gradle|Xcode)(?: version)? ?[><=^~]{0,2} ?v?\d|EBADENGINE|The engine "node" is incompatible|Unsupported engine|(?:go|Go) version .{1,40} (?:is too old|required)|requires go >= |rustc \d[\d.]{2,8} is not supported|requires rustc|Python version .{1,60} not|is not supported by this version of|Could not find specification for target|incompatible with the (?:current )?(?:JDK|JVM)|Dependency requires at least JVM|javax[./]xml[./]bind|Unsupported Java|Value '.{1,60}' given for org\.gradle\.java\.home|No matching toolchains|redefinition of module|Node\.js version .{1,40} (?:detected|required)|Xcode/,
  ],
  [
    'unknown-option',
    'workflow_config',
    3.8,
    /unrecognized (?:arguments?|option|command[- ]line)|[Uu]nknown (?:option|argument|flag|command(?: line)?|shorthand flag|lifecycle phase)|unexpected argument|invalid (?:option|argument|flag)\b|no such (?:option|command|subcommand)|Unrecognized option|flag provided but not defined|Missing script:|npm (?:ERR!|error) missing script|Task '.{1,80}' not found|No rule to make target|No goals have been specified|no tests (?:ran|found)|No test files found|Unknown lifecycle|ERROR: file or directory not found|No configuration (?:was )?found|Couldn't find a configuration file|Cannot find (?:a )?config/,
  ],
  [
    'path-missing',
    'missing_file',
    3.2,
    /: No such file or directory|can't open file|cannot stat|cannot access|ENOENT: no such file|does not (?:exist|appear to be a)|FileNotFoundException|FileNotFoundError|NoSuchFileException|cannot find the (?:path|file)|no such file\b|File not found|Could not find (?:file|a part of the path)|Cannot find path|Unable to (?:open|read) file|could not open|Bad file: |Couldn't download/i,
    {
      when: (fact) => !/\.(?:c|cc|cpp|h|hpp):\d|shared object|\.so\b|fatal error:|ModuleNotFound|Cannot find module/.test(fact.text),
    },
  ],
  [
    'script-path-missing',
    'missing_file',
    4.2,
    /(?:^|[\s:])(?:\/\S{1,40}\/)?(?:ba|z|da|k)?sh: (?:line \d{1,5}: |\d{1,5}: )?(?:cd: |pushd: )?\S{1,200}: (?:No such file or directory|not found)|\.sh: (?:line )?\d{1,5}: (?:cd: |pushd: |source: |\.: )?\S{1,200}: No such file|python3?: can't open file|(?:cd|pushd|source|chmod|cat|cp|mv|tar): .{0,120}No such file|Error: Cannot find module '\/\S{1,200}\.[cm]?js'$|CMake Error: The source directory|There is no POM in this directory|Could not read package\.json|no such file or directory, open '.{1,200}package\.json'|stat \S{1,160}: no such file|No such file or directory: '[^']{0,200}(?:\.ya?ml|\.toml|\.json|\.ini|\.cfg|\.env)'/i,
  ],
  [
    'docker-build',
    'docker_build',
    4.4,
    /dockerfile parse error|failed to (?:compute cache key|read dockerfile)|COPY failed|ADD failed|unknown instruction|failed to solve: (?:process|dockerfile|failed to compute)|Dockerfile: no such|invalid reference format|base name \(.{0,80}\) should not be blank|no matching manifest for|unable to prepare context|exec format error|target stage .{1,60} could not be found/i,
  ],
  [
    'service-missing',
    'environment',
    3.6,
    /Unknown database|database ".{1,80}" does not exist|role ".{1,80}" does not exist|relation ".{1,80}" does not exist|port is already allocated|EADDRINUSE|[Aa]ddress already in use|bind: address|could not select device driver|no DISPLAY|Missing X server|cannot open display|no supported GPU|container .{0,60}is unhealthy|NOAUTH|Could not find Chrome|Executable doesn't exist at|playwright install|chrome not reachable|locale .{0,40}not|unsupported locale setting|manager dying, exit status|not running as root|must be (?:run as )?root|user namespace/,
  ],
  [
    'package-recipe',
    'workflow_config',
    4,
    /compat(?:ibility)? level (?:in|specified)|Please specify the compatibility level|%\w{1,60}\b.{0,40}(?:not found|no job control)|\$\{name\}|%\{\w{1,40}\}.{0,80}(?:404|not found|Couldn't)|Hunk #\d{1,4} FAILED|does not apply|patch .{0,120}(?:cannot be|not found|failed)|rpkg|SRPM build method|Bad source:|fg: no job control|duplicate debhelper|can't find file to patch|unexpectedly ends in middle/i,
  ],
  [
    'target-or-property',
    'workflow_config',
    2.4,
    /Could not find (?:method|property|setting)|Cannot find (?:implementation or library stub|preset|plugin)|Plugin \[id: .{1,120}\] was not found|configuration (?:error|is invalid)|Unsupported configuration|ValidationError.{0,60}config|Configuration error|invalid configuration|mis-?configur/i,
    { from: STRUCTURED },
  ],
]);
