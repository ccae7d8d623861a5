import { ENVIRONMENT_WORDS, type Fact, type Facts } from '../facts.ts';
import { defineRules, type RuleRow, STRUCTURED } from '../rule.ts';

/** Rules for programs that throw, crash or race. */
export const CRASH_RULES: readonly RuleRow[] = defineRules('CODE_ERROR', {
  'null-pointer': {
    kind: 'null_reference',
    strength: 3.8,
    patterns: [
      /NullPointer(?:Exception)?\b|NullReferenceException/,
      /nil pointer dereference/,
      /'?NoneType'? object (?:has no|is not)/,
      /Cannot (?:read|set) propert(?:y|ies) .{0,80}(?:of|from) (?:undefined|null)|Cannot destructure property/,
      /(?:undefined|null) is not (?:an object|a function)/,
      /undefined method .{1,80} for nil/,
      /Error: Call to a member function .{0,80} on null/,
      /unexpectedly found nil/,
    ],
    when: isNotTheEnvironment,
    fix: [
      ['code', 'At {place}, check that the value is set before using it, or set it where it is created.'],
    ],
    matches: [
      "TypeError: Cannot read properties of undefined (reading 'pear')\n    at weigh (/build/src/scales.js:4:9)",
    ],
    ignores: ['✓ throws NullPointerException for no pear'],
  },
  'type-error-thrown': {
    kind: 'null_reference',
    strength: 3.3,
    patterns: [
      /\bTypeError: (?!.{0,120}unexpected keyword argument)/,
      /\b(?:AttributeError|NameError|ReferenceError|UnboundLocalError): /,
      /is not (?:iterable|callable|a function\b)/,
      /(?:ClassCast|InvalidCast)Exception|UndefinedFunctionError/,
      /undefined method/,
      /Call to undefined (?:function|method)/,
      /uninitialized constant /,
    ],
    when: isNotTheEnvironment,
    reads: [
      /(?<object>[\w.$]{1,80})\.(?<method>\w{1,60}) is not a function/,
      /(?<callee>[\w.$]{1,80}) is not a function/,
      /'(?<type>\w{1,60})' object has no attribute '(?<member>\w{1,60})'/,
      /Call to undefined (?:function|method) (?<absent>[\w\\:]{1,100})/,
      /ReferenceError: (?<dom>window|document|navigator|localStorage|sessionStorage|HTMLElement|DOMParser|requestAnimationFrame) is not defined/,
      /(?:NameError: name|ReferenceError:) '?(?<absent>\w{1,80})'? is not defined/,
      /uninitialized constant (?<absent>[\w:]{1,80})/,
      /unexpected keyword argument '(?<argument>\w{1,60})'/,
    ],
    fix: [
      ['code', 'Check the value of `{object}` at {place}, because it has no method `{method}`.'],
      ['code', 'Check the value of `{callee}` at {place}, because it is not a function there.'],
      ['code', 'At {place}, check which version of `{type}` is used, because it has no `{member}`.'],
      [
        'configuration',
        'Run {test} in an environment with a DOM, such as jsdom, because `{dom}` exists only in browsers.',
      ],
      ['configuration', 'Run {file} in an environment with a DOM, such as jsdom, because it uses `{dom}`.'],
      ['code', 'At {place}, define or import `{absent}`, or correct its spelling.'],
      ['code', 'Define or import `{absent}` where it is called, or correct its spelling.'],
    ],
    matches: ['NameError: uninitialized constant Scales::Pear'],
    ignores: ['NameError handling ... ok'],
    says: [
      {
        log: 'TypeError: weigh is not a function\n    at main (/build/src/scales.js:4:9)',
        title: 'TypeError at /build/src/scales.js:4: weigh is not a function',
        cause: 'main (/build/src/scales.js:4) throws TypeError: “weigh is not a function”.',
        fix: 'Check the value of `weigh` at /build/src/scales.js:4, because it is not a function there.',
      },
      {
        log: 'TypeError: weigh is not a function',
        title: 'TypeError: weigh is not a function',
        cause: 'The build failed with “TypeError: weigh is not a function”.',
        fix: null,
      },
    ],
  },
  'index-or-value-error': {
    kind: 'crash',
    strength: 3,
    patterns: [
      /\b(?:IndexError|KeyError|ValueError|RangeError|ZeroDivisionError|RecursionError|StopIteration|UnicodeDecodeError|FileExistsError|NotImplementedError|OverflowError): /,
      /IndexOutOfBounds|ArrayIndexOutOfRange|index out of range|NegativeArraySize|std::out_of_range/,
      /(?:Arithmetic|NumberFormat|ConcurrentModification|NoSuchElement|IllegalState|IllegalArgument|UnsupportedOperation)Exception/,
      /StackOverflow|Maximum call stack size/,
      /(?:InvalidOperation|DirectoryNotFound|BeanCreation|UnsatisfiedDependency|NoSuchBeanDefinition)Exception/,
    ],
    when: isNotTheEnvironment,
    reads: [
      /KeyError: (?<key>'[^'\n]{1,60}'|"[^"\n]{1,60}"|\d{1,9})$/,
      /(?<bounds>IndexError|IndexOutOfBounds|ArrayIndexOutOfRange|index out of range|std::out_of_range)/,
      /(?<zero>ZeroDivisionError|integer divide by zero|ArithmeticException: \/ by zero)/,
      /(?<endless>RecursionError|StackOverflow|Maximum call stack size)/,
    ],
    fix: [
      ['code', 'Find out why the key `{key}` is not set when {place} reads it.'],
      ['code', '{bounds?}At {place}, check the index against the length before using it.'],
      ['code', '{zero?}Check the divisor at {place}, because it is zero.'],
      ['code', '{endless?}Fix the recursion at {place}, because it does not reach its base case.'],
    ],
    matches: ["KeyError: 'pear'\n"],
    ignores: ['test_weigh.py::test_raises_KeyError PASSED'],
    says: [
      {
        log: 'Traceback (most recent call last):\n  File "/app/scales.py", line 4, in w\nKeyError: \'pear\'',
        fix: 'Find out why the key `pear` is not set when /app/scales.py:4 reads it.',
      },
      {
        log: [
          'Traceback (most recent call last):',
          '  File "/app/scales.py", line 4, in weigh',
          '    return pears[7]',
          'IndexError: list index out of range',
        ].join('\n'),
        fix: 'At /app/scales.py:4, check the index against the length before using it.',
      },
      {
        log: [
          'Traceback (most recent call last):',
          '  File "/app/scales.py", line 4, in weigh',
          '    return grams / pears',
          'ZeroDivisionError: division by zero',
        ].join('\n'),
        fix: 'Check the divisor at /app/scales.py:4, because it is zero.',
      },
      {
        log: [
          'Traceback (most recent call last):',
          '  File "/app/scales.py", line 4, in weigh',
          '    return weigh(pear)',
          'RecursionError: maximum recursion depth exceeded',
        ].join('\n'),
        fix: 'Fix the recursion at /app/scales.py:4, because it does not reach its base case.',
      },
    ],
  },
  'shell-saw-crash': {
    kind: 'crash',
    strength: 4.5,
    patterns: [
      /line \d{1,6}: +\d{1,8} (?:Segmentation fault|Aborted|Illegal instruction|Bus error|Floating point exception)/,
    ],
    matches: ['./ci/weigh.sh: line 4:  4711 Segmentation fault      (core dumped) ./scales'],
    ignores: ['./ci/weigh.sh: line 4: 4711 pears'],
  },
  'segmentation-fault': {
    kind: 'crash',
    strength: 4.5,
    patterns: [
      /\bSIG(?:SEGV|ABRT|BUS|ILL)\b/,
      /[Ss]egmentation fault/,
      /\bEXC_BAD_ACCESS\b/,
      /(?:Aborted|exception|trap) {1,8}\(core dumped\)/,
      /\*{3} \[[^\]\n]{1,300}\] (?:Abort|Bus error|Floating point exception|Illegal instruction)/,
      /access violation|STATUS_ACCESS_VIOLATION/,
      /A fatal error has been detected by the Java Runtime/,
      /double free or corruption|free\(\): invalid|heap corruption/,
      /^\*\*\* stack smashing detected/,
      /^\s{0,8}Native stacktrace:|critical: Stacktrace:|Native Crash/,
      /terminated without (?:properly )?saying goodbye/,
      /^terminate called after throwing/,
    ],
    reads: [
      /make(?:\[\d{1,3}\])?: \*\*\* \[(?:[^\]\n]{1,300}: )?(?<target>[^\]\n]{1,80})\] (?:Error 139|(?:Segmentation fault|Abort[a-z]{0,3}|Bus error|Floating point exception|Illegal instruction))/,
      /make(?:\[\d{1,3}\])?: \*\*\* \[[^\]\n]{1,400}\] (?<signal>Abort[a-z]{0,3}|Bus error|Floating point exception|Illegal instruction)/,
      /^(?<last>(?:ok|not ok) \d{1,6} .{1,100}|\[ RUN {1,8}\] .{1,100})$/,
    ],
    title: [
      'A program run by make {target} was terminated by a signal: {signal}',
      'A program run by make {target} crashed with a segmentation fault',
      'A program was terminated by a signal: {signal}',
      'A program crashed with a segmentation fault',
    ],
    cause: [
      'The program that `make {target}` ran was terminated by a signal: {signal}.',
      'The program that `make {target}` ran accessed memory that it does not own (signal 11). The last ' +
        'thing that it printed was “{last}”.',
      'The program that `make {target}` ran accessed memory that it does not own (signal 11).',
      '`{command}` crashed: “{message}”.',
      'The program crashed: “{message}”.',
    ],
    fix: [
      [
        'code',
        'Run the program that `make {target}` starts under a debugger or with a sanitizer, and check the ' +
          'pointer or index that it used after “{last}”.',
      ],
      ['code', 'Run the program that `make {target}` starts under a debugger or with a sanitizer.'],
    ],
    matches: ['Segmentation fault (core dumped)', 'make: *** [Makefile:7: test] Aborted'],
    ignores: ['ok 4 - survives a segmentation fault', 'make: *** [Makefile:7: test] Error 1'],
    says: [
      {
        log: 'Segmentation fault (core dumped)',
        title: 'A program crashed with a segmentation fault',
        cause: 'The program crashed: “Segmentation fault (core dumped)”.',
        fix: null,
      },
    ],
  },
  'sanitizer-report': {
    kind: 'crash',
    strength: 5,
    patterns: [
      /(?:Address|Memory|Thread|Leak|UndefinedBehavior)Sanitizer:/,
      /(?<!panic: )runtime error: (?:signed integer|load of|index|member|null|left shift|division)/,
      /^\s{0,8}(?:Read|Write) of size \d{1,6} at 0x/,
    ],
    outranks: ['test-named-as-failed', 'go-test-failed'],
    matches: ['==4711==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010'],
    ignores: ['-- Building with AddressSanitizer'],
  },
  'data-race': {
    kind: 'crash',
    strength: 4,
    patterns: [/^WARNING: DATA RACE/, /race detected during execution/],
    reads: [
      /^\s{2,10}\/\S{1,200}\/(?<racy>(?!testing\.go|proc\.go|[\w.-]{1,80}_test\.go)[\w.-]{1,80}\.go:\d{1,6}) \+0x/,
    ],
    fix: [
      ['code', 'Protect the data that is shared at {racy} with a lock or a channel.'],
      ['code', 'Protect the data that is shared at {place} with a lock or a channel.'],
    ],
    outranks: ['test-named-as-failed', 'go-test-failed', 'test-summary-counts-failures'],
    matches: ['WARNING: DATA RACE\nWrite at 0x00c0000b4010 by goroutine 8:'],
    ignores: ['Checking every test for a data race', '--- PASS: TestDataRaceFree (0.00s)'],
  },
  panic: {
    kind: 'crash',
    strength: 3.6,
    patterns: [
      /^panic: (?!test timed out)/,
      /\bpanicked at\b/,
      /fatal error: all goroutines are asleep/,
      /fatal error: concurrent map/,
      /\bkernel panic/,
    ],
    when: (_fact, facts) => facts.assertion === null,
    fix: [['code', "Start at {place}, the first stack frame in the project's own code."]],
    matches: ["thread 'main' panicked at src/scales.rs:4:9:\nno pear"],
    ignores: ['--- PASS: TestPanics (0.00s)'],
    says: [
      {
        log: "thread 'main' panicked at src/scales.rs:4:9:\nno pear",
        title: 'panic at src/scales.rs:4: no pear',
        cause: 'src/scales.rs:4 panics: “no pear”.',
        fix: "Start at src/scales.rs:4, the first stack frame in the project's own code.",
      },
    ],
  },
  'exit-by-signal': {
    kind: 'crash',
    strength: 3.5,
    patterns: [
      /\b(?:exit (?:code|status)|Error|exited with(?: code)?|code) (?:139|134|132|136|-1073741819|3221225477)\b/,
    ],
    when: (_fact, facts) => facts.assertion === null,
    matches: ['##[error]Process completed with exit code 139.'],
    ignores: ['Process weighed 139 pears'],
  },
  'uncaught-product-exception': {
    kind: 'crash',
    strength: 2.6,
    patterns: [/^[\w.$]{0,160}(?:Exception|Error|Panic)\b/],
    from: ['exception'],
    when: isProductFact,
    matches: [
      'Exception in thread "main" org.fruit.RottenException: pear\n\tat org.fruit.Scales.weigh(Scales.java:4)\n\tat org.fruit.Main.main(Main.java:9)',
    ],
    ignores: ['✓ throws org.fruit.RottenException'],
  },
  'unhandled-exception': {
    kind: 'crash',
    strength: 2,
    patterns: [
      /Unhandled(?: promise)? (?:rejection|exception)/i,
      /Uncaught (?:exception|error)/i,
      /Exception in thread "/i,
      /Traceback \(most recent call last\)/i,
    ],
    when: (_fact, facts) => facts.productException !== null,
    matches: [
      'Exception in thread "main" org.fruit.RottenException: pear\n\tat org.fruit.Scales.weigh(Scales.java:4)\n\tat org.fruit.Main.main(Main.java:9)',
    ],
    ignores: ['Unhandled exceptions are sent to the tracker'],
  },
  'leak-or-corruption': {
    kind: 'crash',
    strength: 2,
    patterns: [/memory leak/i, /detected memory leaks/i, /use[- ]after[- ]free/i, /deadlock detected/i],
    from: STRUCTURED,
    matches: ['error: use-after-free in weigh'],
    ignores: ['Checking for memory leaks ... ok'],
  },
});

/**
 * Checks that a fact does not point to the environment, as "TypeError: fetch failed" and similar messages do.
 */
function isNotTheEnvironment(fact: Fact, facts: Facts): boolean {
  if (ENVIRONMENT_WORDS.test(fact.text)) return false;
  const thrown = facts.subject.exceptions.find((entry) =>
    fact.text.startsWith(`${entry.type}: ${entry.message}`),
  );
  return thrown === undefined || !ENVIRONMENT_WORDS.test(thrown.chain.join(' '));
}

/**
 * Checks whether a fact is an exception that the project's own frames threw. Returns false if a rule for the
 * machine, the network, the set-up, or an assertion matches it.
 */
function isProductFact(fact: Fact, facts: Facts): boolean {
  const thrown = facts.productException;
  return thrown !== null && fact.text.startsWith(thrown.type);
}
