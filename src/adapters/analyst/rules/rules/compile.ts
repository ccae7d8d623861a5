import { type Rule, ruleTable, STRUCTURED } from '../rule.ts';

const GO_FILE = String.raw`\b[\w./-]{1,200}\.go:\d{1,6}(?::\d{1,6})?: `;

/** The source does not compile, type-check or link. */
export const COMPILE_RULES: readonly Rule[] = ruleTable({ category: 'CODE_ERROR' }, [
  [
    'compiler-diagnostic',
    'compile_error',
    4,
    /^(?:javac|maven|gradle|kotlin\w*|scala\w*|groovyc|gcc|g\+\+|clang(?!-tidy|-format)\S*|msvc|cl|csc|swiftc?|rustc|cargo|go(?:-build)?|ghc|dotnet|msbuild|webpack|esbuild|vite|babel): /i,
    {
      from: ['diagnostic'],
      when: (_fact, facts) => facts.compileErrors.length > 0,
    },
  ],
  ['tsc-diagnostic', 'type_error', 4.5, /^(?:tsc|typescript|vue-tsc|flow|mypy|pyright): |\berror TS\d{4,5}:/i],
  ['mypy-error', 'type_error', 3.5, /\.pyi?:\d{1,6}: error: |^Found \d{1,5} errors? in \d{1,5} files? \(checked/],
  [
    'javac-cannot-find-symbol',
    'compile_error',
    4.5,
    /cannot find symbol|(?:class|interface|enum) \S{1,80} is public, should be declared in|package \S{1,120} does not exist/,
  ],
  [
    'java-compilation-error',
    'compile_error',
    4.5,
    /COMPILATION ERROR|Compilation failure|Compilation failed; see the compiler error output|incompatible types: |might not have been initialized|unreported exception \S{1,80}|is not abstract and does not override|(?:method|constructor) \S{1,120} in (?:class|interface|enum|record) \S{1,160} cannot be applied|duplicate class: |type \S{1,160} is already defined|class, interface,? (?:enum,? )?(?:or record )?expected|unreachable statement|has private access in|\.java:\[?\d{1,6}[,:\]]\S{0,12} (?:error: )?\S/,
  ],
  [
    'kotlin-compile-error',
    'compile_error',
    4.5,
    /^e: (?:file:\/\/)?\S{1,300}\.kts?[:(]|Compilation error\. See log for more details|Unresolved reference[: ]/,
  ],
  ['scala-compile-error', 'compile_error', 4.5, /\[error\] \S{1,300}\.scala:\d{1,6}|\(Compile \/ compileIncremental\) Compilation failed/],
  [
    'c-compile-error',
    'compile_error',
    4.5,
    /\.(?:c|cc|cpp|cxx|h|hpp|hh|m|mm|cu):\d{1,6}:(?:\d{1,6}:)? (?:fatal )?error: (?!.{0,160}\[clang-)(?!.{0,120}(?:No such file or directory|file not found))/,
  ],
  [
    'c-undeclared',
    'compile_error',
    4,
    /was not declared in this scope|use of undeclared identifier|implicit declaration of function|has no member named|invalid use of incomplete type|expected .{1,20} before .{1,20} token/,
  ],
  ['rust-compile-error', 'compile_error', 4.5, /^error\[E\d{4}\]|\berror\[E\d{4}\]:|could not compile `/],
  [
    'go-compile-error',
    'compile_error',
    4.5,
    new RegExp(
      `${GO_FILE}(?:undefined: |cannot use |syntax error|declared and not used|imported and not used|missing return|too many arguments|not enough arguments|.{0,80} redeclared|invalid operation|assignment mismatch|unknown field|.{0,120} undefined \\()`,
    ),
  ],
  ['go-build-failed', 'compile_error', 3, /\[build failed\]|^# [\w./-]{1,200}(?: \[[\w./-]{1,200}\])?$|import cycle not allowed/],
  [
    'go-vet',
    'lint_failure',
    3,
    new RegExp(`^vet: |${GO_FILE}.{0,120}(?:possible misuse|unreachable code|Printf format|composite literal)`),
  ],
  [
    'swift-compile-error',
    'compile_error',
    4,
    /\.swift:\d{1,6}:\d{1,6}: error: |actor-isolated|error: [Ii]nvalid redeclaration of|^error: (?:cannot find '|value of type '|missing argument for|.{1,60} is ambiguous for type lookup)/,
  ],
  ['csharp-compile-error', 'compile_error', 4.5, /\berror CS\d{4}:|\berror FS\d{4}:|\berror BC\d{5}:|\berror C\d{4}:/],
  ['python-syntax-error', 'compile_error', 4.5, /\b(?:SyntaxError|IndentationError|TabError): /],
  [
    'script-syntax-error',
    'compile_error',
    4,
    /SyntaxError: |Parse error: syntax error|PHP (?:Parse|Fatal) error|syntax error, unexpected|Unexpected token|Module parse failed|(?:: |^)syntax error(?: near|:|$)/,
    {
      when: (fact) => !/yaml|\.ya?ml|workflow|json at position|SQLSTATE|in JSON/i.test(fact.text),
    },
  ],
  [
    'undefined-reference',
    'link_error',
    4.5,
    /undefined reference to|undefined symbols? for architecture|ld returned \d|symbol\(s\) not found|linker command failed|unresolved external symbol|multiple definition of|duplicate symbol|linking with `\S{1,40}` failed/i,
  ],
  [
    'generic-compile-step',
    'compile_error',
    2.5,
    /\bcompil(?:ation|e|ing) (?:error|failed|terminated)\b|:compile\w{0,40}(?:Java|Kotlin|Groovy|Scala)['’]?\.?$|Failed to compile|Build error occurred|Type error: /i,
    { from: STRUCTURED },
  ],
  [
    'documentation-error',
    'lint_failure',
    2.5,
    /javadoc.{0,60}(?:error|failed)|error: (?:bad use of|unknown tag|reference not found|malformed HTML)|rustdoc::|WARNING: .{0,80} \[docutils\]/,
  ],
  [
    'deprecated-call',
    'compile_error',
    1.5,
    /\bis deprecated\b.{0,80}$|passing null to parameter/i,
    { from: ['headline', 'test', 'exception'] },
  ],
  [
    'build-order',
    'compile_error',
    1.2,
    /File\/directory does not exist: |Cannot (?:create|write) (?:file|directory).{0,120}/,
    { from: STRUCTURED },
  ],
]);
