import { ENVIRONMENT_WORDS } from '../facts.ts';
import { defineRules, type RuleRow, STRUCTURED } from '../rule.ts';

const GO_FILE = String.raw`\b[\w./-]{1,200}\.go:\d{1,6}(?::\d{1,6})?: `;

/** Rules for source code that does not compile, type-check or link. */
export const COMPILE_RULES: readonly RuleRow[] = defineRules('CODE_ERROR', {
  'compiler-diagnostic': {
    kind: 'compile_error',
    strength: 4,
    patterns: [
      /^(?:javac|maven|gradle|kotlin\w*|scala\w*|groovyc|gcc|g\+\+|clang(?!-tidy|-format)\S*|msvc|cl|csc|swiftc?|rustc|cargo|go(?:-build)?|ghc|dotnet|msbuild|webpack|esbuild|vite|babel): /i,
    ],
    from: ['diagnostic'],
    when: (fact, facts) => facts.compileErrors.some((entry) => fact.text.endsWith(entry.message)),
    matches: ["src/scales.c:4:9: error: expected ';' before '}' token"],
    ignores: ["src/scales.c:4:9: warning: unused variable 'pear' [-Wunused-variable]"],
  },
  'tsc-diagnostic': {
    kind: 'type_error',
    strength: 4.5,
    patterns: [
      /^(?:tsc|typescript|vue-tsc|flow|mypy|pyright): /i,
      /\berror TS\d{4,5}:/i,
      /\berror NG\d{4,6}:/i,
      /svelte-check found [1-9]\d{0,5} errors?/i,
    ],
    matches: ["src/app/scales.ts:4:9 - error NG8001: 'app-pear' is not a known element"],
    ignores: ['svelte-check found 0 errors and 0 warnings'],
    says: [
      {
        log: "src/app/scales.ts:4:9 - error TS2339: Property 'weight' does not exist on type 'Pear'.",
        title: "src/app/scales.ts:4: Property 'weight' does not exist on type 'Pear'",
        cause:
          "tsc reports an error at src/app/scales.ts:4: “Property 'weight' does not exist on type " +
          "'Pear'” (TS2339).",
        fix: 'At src/app/scales.ts:4, use an existing member of Pear, or add `weight` to it.',
      },
      {
        log: "src/app/scales.ts(4,9): error TS2322: Type 'string' is not assignable to type 'number'.",
        title: "src/app/scales.ts:4: Type 'string' is not assignable to type 'number'",
        cause:
          "tsc reports an error at src/app/scales.ts:4: “Type 'string' is not assignable to type " +
          "'number'” (TS2322).",
        fix: 'Change the value at src/app/scales.ts:4 from string to number, or correct the declared type.',
      },
    ],
  },
  'mypy-error': {
    kind: 'type_error',
    strength: 3.5,
    patterns: [/\.pyi?:\d{1,6}: error: /, /^Found \d{1,5} errors? in \d{1,5} files? \(checked/],
    matches: [
      'scales/weigh.py:4: error: Incompatible return value type (got "str", expected "int")  [return-value]',
    ],
    ignores: ['scales/weigh.py:4: note: "weigh" defined here', 'Success: no issues found in 12 source files'],
    says: [
      {
        log:
          'scales/weigh.py:4: error: Incompatible return value type (got "str", expected "int")  ' +
          '[return-value]',
        title: 'scales/weigh.py:4: Incompatible return value type (got "str", expected "int")',
        cause:
          'mypy reports an error at scales/weigh.py:4: “Incompatible return value type (got "str", ' +
          'expected "int")” (return-value).',
        fix: 'Change the value at scales/weigh.py:4 from str to int, or correct the declared type.',
      },
    ],
  },
  'javac-cannot-find-symbol': {
    kind: 'compile_error',
    strength: 4.5,
    patterns: [
      /cannot find symbol/,
      /(?:class|interface|enum) \S{1,80} is public, should be declared in/,
      /package \S{1,120} does not exist/,
    ],
    matches: ['src/main/java/org/fruit/Scales.java:4: error: cannot find symbol'],
    ignores: ['✓ reports that it cannot find symbol tables'],
    says: [
      {
        log: '[ERROR] /build/src/main/java/org/fruit/Scales.java:[4,9] cannot find symbol\n[ERROR]   symbol:   class Pear\n[ERROR]   location: class org.fruit.Scales',
        title: '/build/src/main/java/org/fruit/Scales.java:4: cannot find symbol: class Pear',
        cause:
          'javac reports an error at /build/src/main/java/org/fruit/Scales.java:4: “cannot find symbol: ' +
          'class Pear”.',
        fix:
          'At /build/src/main/java/org/fruit/Scales.java:4, import or define `Pear`, or correct its ' +
          'spelling.',
      },
      {
        log: '[ERROR] /build/src/main/java/org/fruit/Scales.java:[4,9] cannot find symbol',
        title: '/build/src/main/java/org/fruit/Scales.java:4: cannot find symbol',
        cause:
          'javac reports an error at /build/src/main/java/org/fruit/Scales.java:4: “cannot find symbol”.',
        fix: 'Fix the error at /build/src/main/java/org/fruit/Scales.java:4: “cannot find symbol”.',
      },
    ],
  },
  'java-compilation-error': {
    kind: 'compile_error',
    strength: 4.5,
    patterns: [
      /COMPILATION ERROR|Compilation failure|Compilation failed; see the compiler error output/,
      /incompatible types: /,
      /might not have been initialized|is not abstract and does not override|unreachable statement|duplicate class: /,
      /unreported exception \S{1,80}/,
      /(?:method|constructor) \S{1,120} in (?:class|interface|enum|record) \S{1,160} cannot be applied/,
      /class, interface,? (?:enum,? )?(?:or record )?expected/,
      /^\s{0,12}(?:\[(?:ERROR|javac)\] )?\S{1,300}\.java:\[?\d{1,6}[,:\]]\S{0,12} (?!warning|note)\S/,
    ],
    matches: [
      '[ERROR] /build/src/main/java/org/fruit/Scales.java:[4,9] incompatible types: String cannot be ' +
        'converted to int',
    ],
    ignores: ['[INFO] Scales.java:[4,9] uses unchecked or unsafe operations.'],
  },
  'kotlin-compile-error': {
    kind: 'compile_error',
    strength: 4.5,
    patterns: [
      /^e: (?:file:\/\/)?\S{1,300}\.kts?[:(]/,
      /Compilation error\. See log for more details/,
      /Unresolved reference[: ]/,
    ],
    matches: ['e: file:///build/src/main/kotlin/Scales.kt:4:9 Unresolved reference: weigh'],
    ignores: ["w: file:///build/src/main/kotlin/Scales.kt:4:9 Parameter 'pear' is never used"],
    says: [
      {
        log: 'e: file:///build/src/main/kotlin/Scales.kt:4:9 Unresolved reference: weigh',
        title: '/build/src/main/kotlin/Scales.kt:4: Unresolved reference: weigh',
        cause:
          'kotlinc reports an error at /build/src/main/kotlin/Scales.kt:4: “Unresolved reference: weigh”.',
        fix: 'At /build/src/main/kotlin/Scales.kt:4, import or define `weigh`, or correct its spelling.',
      },
    ],
  },
  'scala-compile-error': {
    kind: 'compile_error',
    strength: 4.5,
    patterns: [/\[error\] \S{1,300}\.scala:\d{1,6}/, /\(Compile \/ compileIncremental\) Compilation failed/],
    matches: ['[error] /build/src/main/scala/Scales.scala:4:9: type mismatch;'],
    ignores: ['[warn] /build/src/main/scala/Scales.scala:4:9: unused import'],
  },
  'c-compile-error': {
    kind: 'compile_error',
    strength: 4.5,
    patterns: [
      /\.(?:c|cc|cpp|cxx|h|hpp|hh|m|mm|cu):\d{1,6}:(?:\d{1,6}:)? (?:fatal )?error: (?!.{0,160}(?:\[clang-|clang-formatted))(?!.{0,120}(?:No such file or directory|file not found))/,
    ],
    matches: ["src/scales.cpp:4:9: error: no matching function for call to 'weigh'"],
    ignores: ['src/scales.cpp:4:9: note: candidate expects 2 arguments, 1 provided'],
    says: [
      {
        log: "src/scales.c:4:9: error: expected ';' before '}' token",
        title: "src/scales.c:4: expected ';' before '}' token",
        cause: "gcc reports an error at src/scales.c:4: “expected ';' before '}' token”.",
        fix: "Fix the error at src/scales.c:4: “expected ';' before '}' token”.",
      },
    ],
  },
  'c-undeclared': {
    kind: 'compile_error',
    strength: 4,
    patterns: [
      /was not declared in this scope|use of undeclared identifier|has no member named|invalid use of incomplete type/,
      /(?:error|gcc|clang): .{0,20}implicit declaration of function/,
      /expected .{1,20} before .{1,20} token/,
    ],
    matches: ["src/scales.c:4:9: error: 'struct basket' has no member named 'pear'"],
    ignores: [
      "warning: implicit declaration of function 'weigh'",
      "src/scales.c:4:9: warning: implicit declaration of function 'weigh' [-Wimplicit-function-declaration]",
    ],
    says: [
      {
        log: "src/scales.c:4:9: error: 'struct basket' has no member named 'pear'",
        title: "src/scales.c:4: 'struct basket' has no member named 'pear'",
        cause: "gcc reports an error at src/scales.c:4: “'struct basket' has no member named 'pear'”.",
        fix: 'At src/scales.c:4, use an existing member of struct basket, or add `pear` to it.',
      },
    ],
  },
  'rust-compile-error': {
    kind: 'compile_error',
    strength: 4.5,
    patterns: [/^error\[E\d{4}\]/, /\berror\[E\d{4}\]:/],
    matches: ['error[E0382]: borrow of moved value: `pear`'],
    ignores: ['warning: unused variable: `pear`'],
    says: [
      {
        log: 'error[E0425]: cannot find value `pear` in this scope\n --> src/main.rs:4:9\n  |\n4 |     pear;\n  |     ^^^^ help: a local variable with a similar name exists: `peas`',
        title: 'src/main.rs:4: cannot find value `pear` in this scope',
        cause: 'rustc reports an error at src/main.rs:4: “cannot find value `pear` in this scope” (E0425).',
        fix: 'Fix the error at src/main.rs:4; rustc suggests `peas`.',
      },
    ],
  },
  'cargo-build-failed': {
    kind: 'compile_error',
    strength: 3,
    patterns: [/could not compile `/],
    matches: ['error: could not compile `pear` (lib) due to 2 previous errors'],
    ignores: ['   Compiling pear v0.1.0'],
  },
  'go-compile-error': {
    kind: 'compile_error',
    strength: 4.5,
    patterns: [
      new RegExp(
        `${GO_FILE}(?:undefined: |cannot use |syntax error|declared and not used|imported and not used|missing return|too many arguments|not enough arguments|.{0,80} redeclared|invalid operation|assignment mismatch|unknown field|.{0,120} undefined \\()`,
      ),
    ],
    matches: ['./scales.go:4:9: undefined: weigh'],
    ignores: ['scales.go:4: weighing undefined: none'],
    says: [
      {
        log: './scales.go:4:9: undefined: weigh',
        title: 'scales.go:4: undefined: weigh',
        cause: 'go reports an error at scales.go:4: “undefined: weigh”.',
        fix: 'At scales.go:4, import or define `weigh`, or correct its spelling.',
      },
    ],
  },
  'go-build-failed': {
    kind: 'compile_error',
    strength: 3,
    patterns: [/\[build failed\]/, /^# [\w./-]{1,200}(?: \[[\w./-]{1,200}\])?$/, /import cycle not allowed/],
    matches: ['FAIL\torchard.example/scales [build failed]'],
    ignores: ['ok  \torchard.example/scales\t0.004s'],
  },
  'go-vet': {
    kind: 'lint_failure',
    strength: 3,
    patterns: [
      new RegExp(
        `^vet: |${GO_FILE}.{0,120}(?:possible misuse|unreachable code|Printf format|composite literal)`,
      ),
    ],
    matches: [
      './scales.go:4:9: fmt.Printf format %d has arg pear of wrong type string\nvet: ./scales.go:9:2: unreachable code',
    ],
    ignores: ['vet: passed'],
  },
  'swift-compile-error': {
    kind: 'compile_error',
    strength: 4,
    patterns: [
      /\.swift:\d{1,6}:\d{1,6}: error: /,
      /error: .{0,60}actor-isolated/,
      /error: [Ii]nvalid redeclaration of/,
      /^error: (?:cannot find '|value of type '|missing argument for|.{1,60} is ambiguous for type lookup)/,
    ],
    matches: ["/build/Sources/Scales.swift:4:9: error: cannot find 'weigh' in scope"],
    ignores: ["/build/Sources/Scales.swift:4:9: warning: variable 'pear' was never used"],
    says: [
      {
        log: "/build/Sources/Scales.swift:4:9: error: invalid redeclaration of 'weigh()'",
        title: "/build/Sources/Scales.swift:4: invalid redeclaration of 'weigh()'",
        cause:
          "swift reports an error at /build/Sources/Scales.swift:4: “invalid redeclaration of 'weigh()'”.",
        fix: 'Remove or rename one of the declarations of `weigh`; one is at /build/Sources/Scales.swift:4.',
      },
    ],
  },
  'csharp-compile-error': {
    kind: 'compile_error',
    strength: 4.5,
    patterns: [/\berror (?:CS\d{4}|FS\d{4}|BC\d{5}|C\d{4}):/],
    matches: ["Scales.cs(4,9): error CS0103: The name 'pear' does not exist in the current context"],
    ignores: ["Scales.cs(4,9): warning CS0168: The variable 'pear' is declared but never used"],
    says: [
      {
        log: "Scales.cs(4,9): error CS0103: The name 'pear' does not exist in the current context",
        title: "Scales.cs:4: The name 'pear' does not exist in the current context",
        cause:
          "csc reports an error at Scales.cs:4: “The name 'pear' does not exist in the current context” " +
          '(CS0103).',
        fix: 'At Scales.cs:4, import or define `pear`, or correct its spelling.',
      },
    ],
  },
  'python-syntax-error': {
    kind: 'compile_error',
    strength: 4.5,
    patterns: [/\b(?:SyntaxError|IndentationError|TabError): /],
    reads: [/\b(?:SyntaxError|IndentationError|TabError): (?<why>.{4,120}?)(?: \([^)]{1,80}\))?$/],
    fix: [['code', 'Fix the syntax error at {place}: “{why}”.']],
    outranks: ['package-build-failed', 'tap-not-ok', 'test-summary-counts-failures'],
    matches: [
      '  File "/app/scales.py", line 4\n    def weigh(pear)\n                   ^\nSyntaxError: expected \':\'',
    ],
    ignores: ['test_parser.py::test_raises_SyntaxError PASSED'],
    says: [
      {
        log: '  File "/app/scales.py", line 4\n    def weigh(pear)\n                   ^\nSyntaxError: expected \':\'',
        title: "/app/scales.py:4: expected ':'",
        cause: "Python reports an error at /app/scales.py:4: “expected ':'” (SyntaxError).",
        fix: "Fix the syntax error at /app/scales.py:4: “expected ':'”.",
      },
    ],
  },
  'script-syntax-error': {
    kind: 'compile_error',
    strength: 4,
    patterns: [
      /SyntaxError: /,
      /Parse error: syntax error/,
      /PHP (?:Parse|Fatal) error/,
      /syntax error, unexpected/,
      /Unexpected token/,
      /Module parse failed/,
      /(?:: |^)syntax error(?: near|:|$)/,
      /: \d{1,6}: (?:\S{1,200}: )?Syntax error: /,
    ],
    when: (fact) => !/yaml|\.ya?ml|workflow|json at position|SQLSTATE|in JSON/i.test(fact.text),
    reads: [
      /: (?<row>\d{1,6}): (?:\S{1,200}: )?Syntax error: (?<shellFault>.{4,80})/,
      /(?:SyntaxError: |Parse error: |Syntax error: (?=\w|")|PHP (?:Parse|Fatal) error: {1,4}|(?=syntax error))(?<why>.{4,120}?)(?: in \/\S{1,200} on line \d{1,6})?$/,
    ],
    title: 'The shell script has a syntax error: {shellFault}',
    cause: 'The shell cannot parse line {row} of the script: “{shellFault}”.',
    fix: [['code', 'Fix the syntax error at {place}: “{why}”.']],
    matches: ["./ci/weigh.sh: line 4: syntax error near unexpected token `fi'"],
    ignores: ['Checking syntax errors ... ok'],
    says: [
      {
        log: "./ci/weigh.sh: line 4: syntax error near unexpected token `fi'",
        title: "./ci/weigh.sh: line 4: syntax error near unexpected token `fi'",
        cause: "The build failed with “./ci/weigh.sh: line 4: syntax error near unexpected token `fi'”.",
        fix: "Fix the syntax error at ci/weigh.sh:4: “syntax error near unexpected token `fi'”.",
      },
      {
        log:
          '/var/jenkins/orchard@tmp/durable-5fb0/script.sh: 1: ' +
          '/var/jenkins/orchard@tmp/durable-5fb0/script.sh: Syntax error: Unterminated quoted string',
        title: 'The shell script has a syntax error: Unterminated quoted string',
        cause: 'The shell cannot parse line 1 of the script: “Unterminated quoted string”.',
      },
    ],
  },
  'undefined-reference': {
    kind: 'link_error',
    strength: 4.5,
    patterns: [
      /undefined (?:reference to|symbols? for architecture)|unresolved external symbol/i,
      /symbol\(s\) not found/i,
      /error: ld returned \d/i,
      /linker command failed/i,
      /multiple definition of/i,
      /duplicate symbol/i,
      /linking with `\S{1,40}` failed/i,
      /error LNK\d{4}/i,
      /relocation (?:truncated to fit|R_\w{1,40} against .{1,200}can ?not be used)/i,
    ],
    reads: [
      /(?<symbol>(?<=undefined reference to [`'"‘])[^`'"’\n]{1,120})/,
      /unresolved external symbol "?(?<symbol>[^\s"]{1,100})/,
      /^\s{0,4}"(?<symbol>_?[^"\n]{1,100})", referenced from/,
      /(?<object>\S{1,160}\.o) is incompatible with (?<architecture>\w{3,40})/,
      /(?:multiple definition of|duplicate symbol) [`'"‘]?(?<twice>[^`'"’\n:]{1,100})/,
    ],
    title: ['No linked library defines {symbol}', '{twice} is defined twice'],
    cause: [
      "{place} uses {symbol}, but no object or library on the linker's command line defines it.",
      "The code uses {symbol}, but no object or library on the linker's command line defines it.",
      'Two of the linked objects define {twice}.',
    ],
    fix: [
      [
        'code',
        'Link the object or library that defines {symbol}, or correct its declaration so that the names ' +
          'match.',
      ],
      ['configuration', 'Clean the earlier build, because {object} is not for {architecture}.'],
      [
        'code',
        'Define `{twice}` in only one object: keep its declaration in the header and its definition in ' +
          'one source file.',
      ],
    ],
    matches: [
      'scales.obj : error LNK2019: unresolved external symbol weigh referenced in function main',
      "main.cpp:(.text+0x1f): undefined reference to `grams(Basket)'",
    ],
    ignores: ['Linking CXX executable scales'],
    says: [
      {
        log: "main.cpp:(.text+0x1f): undefined reference to `grams(Basket)'\ncollect2: error: ld returned 1 exit status",
        title: 'No linked library defines grams(Basket)',
        cause:
          "main.cpp uses grams(Basket), but no object or library on the linker's command line defines it.",
        fix:
          'Link the object or library that defines grams(Basket), or correct its declaration so that the ' +
          'names match.',
      },
      {
        log: 'ld: build/scales.o is incompatible with elf_x86_64\ncollect2: error: ld returned 1 exit status',
        fix: 'Clean the earlier build, because build/scales.o is not for elf_x86_64.',
      },
    ],
  },
  'bundler-or-script-compile-error': {
    kind: 'compile_error',
    strength: 4,
    patterns: [
      /^\*\* \(CompileError\)/,
      /\bRollupError: /,
      /^[✘X] \[ERROR\] /,
      /Module build failed/,
      /AAPT: error: /,
    ],
    when: (fact) => !ENVIRONMENT_WORDS.test(fact.text) && !/Could not resolve "/.test(fact.text),
    matches: [
      '** (CompileError) lib/scales.ex:4: undefined function weigh/1',
      '✘ [ERROR] Expected ")" but found "}"',
    ],
    ignores: ['▲ [WARNING] Duplicate key "pear" in object literal'],
  },
  'generic-compile-step': {
    kind: 'compile_error',
    strength: 2.5,
    patterns: [
      /\bcompil(?:ation|e|ing) (?:error|failed|terminated)\b/i,
      /:compile\w{0,40}(?:Java|Kotlin|Groovy|Scala)['’]?\.?$/i,
      /Failed to compile/i,
      /Build error occurred/i,
      /Type error: /i,
    ],
    from: STRUCTURED,
    matches: ["Failed to compile.\n\nType error: Property 'pear' does not exist on type 'Basket'."],
    ignores: ['Compiled successfully with 0 compile errors'],
  },
  'documentation-error': {
    kind: 'lint_failure',
    strength: 2.5,
    patterns: [
      /javadoc.{0,60}(?:error|failed)/,
      /error: (?:bad use of|unknown tag|reference not found|malformed HTML)/,
      /rustdoc::/,
      /WARNING: .{0,80} \[docutils\]/,
    ],
    matches: ['src/main/java/org/fruit/Scales.java:4: error: reference not found'],
    ignores: ['Building index for all the packages and classes...', 'Generating javadoc without errors'],
  },
  'deprecation-made-an-error': {
    kind: 'lint_failure',
    strength: 2.6,
    patterns: [
      /^Deprecation triggered by /,
      /Remaining (?:self|direct|indirect) deprecation notices \([1-9]/,
    ],
    matches: ['Deprecation triggered by Scales\\Tests\\PearTest::testWeigh:'],
    ignores: ['Remaining direct deprecation notices (0)'],
  },
});
