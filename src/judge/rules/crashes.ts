import type { Fact, Facts } from '../facts.ts';
import { type RuleRow, ruleTable, STRUCTURED } from '../rule.ts';
import { ENVIRONMENT_WORDS } from '../vocabulary.ts';

/** The product throws, crashes or races. */
export const CRASH_RULES: readonly RuleRow[] = ruleTable('CODE_ERROR', {
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
    meets: ["TypeError: Cannot read properties of undefined (reading 'pear')\n    at weigh (/build/src/scales.js:4:9)"],
    spares: ['✓ throws NullPointerException for no pear'],
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
    meets: ['NameError: uninitialized constant Scales::Pear'],
    spares: ['NameError handling ... ok'],
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
    meets: ["KeyError: 'pear'\n"],
    spares: ['test_weigh.py::test_raises_KeyError PASSED'],
  },
  'shell-saw-crash': {
    kind: 'crash',
    strength: 4.5,
    patterns: [/line \d{1,6}: +\d{1,8} (?:Segmentation fault|Aborted|Illegal instruction|Bus error|Floating point exception)/],
    meets: ['./ci/weigh.sh: line 4:  4711 Segmentation fault      (core dumped) ./scales'],
    spares: ['./ci/weigh.sh: line 4: 4711 pears'],
  },
  'segmentation-fault': {
    kind: 'crash',
    strength: 4.5,
    patterns: [
      /\bSIG(?:SEGV|ABRT|BUS|ILL)\b/,
      /[Ss]egmentation fault/,
      /\bEXC_BAD_ACCESS\b/,
      /(?:Aborted|exception|trap) {1,8}\(core dumped\)/,
      /access violation|STATUS_ACCESS_VIOLATION/,
      /A fatal error has been detected by the Java Runtime/,
      /double free or corruption|free\(\): invalid|heap corruption/,
      /^\*\*\* stack smashing detected/,
      /^\s{0,8}Native stacktrace:|critical: Stacktrace:|Native Crash/,
      /terminated without (?:properly )?saying goodbye/,
      /^terminate called after throwing/,
    ],
    meets: ['Segmentation fault (core dumped)'],
    spares: ['ok 4 - survives a segmentation fault'],
  },
  'sanitizer-report': {
    kind: 'crash',
    strength: 5,
    patterns: [
      /(?:Address|Memory|Thread|Leak|UndefinedBehavior)Sanitizer:/,
      /runtime error: (?:signed integer|load of|index|member|null|left shift|division)/,
      /^\s{0,8}(?:Read|Write) of size \d{1,6} at 0x/,
    ],
    meets: ['==4711==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010'],
    spares: ['-- Building with AddressSanitizer'],
  },
  'data-race': {
    kind: 'crash',
    strength: 4,
    patterns: [/^WARNING: DATA RACE/, /race detected during execution/],
    meets: ['WARNING: DATA RACE\nWrite at 0x00c0000b4010 by goroutine 8:'],
    spares: ['Checking every test for a data race', '--- PASS: TestDataRaceFree (0.00s)'],
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
    meets: ["thread 'main' panicked at src/scales.rs:4:9:\nno pear"],
    spares: ['--- PASS: TestPanics (0.00s)'],
  },
  'exit-by-signal': {
    kind: 'crash',
    strength: 3.5,
    patterns: [/\b(?:exit (?:code|status)|Error|exited with(?: code)?|code) (?:139|134|132|136|-1073741819|3221225477)\b/],
    when: (_fact, facts) => facts.assertion === null,
    meets: ['##[error]Process completed with exit code 139.'],
    spares: ['Process weighed 139 pears'],
  },
  'uncaught-product-exception': {
    kind: 'crash',
    strength: 2.6,
    patterns: [/^[\w.$]{0,160}(?:Exception|Error|Panic)\b/],
    from: ['exception'],
    when: isProductFact,
    meets: [
      'Exception in thread "main" org.fruit.RottenException: pear\n\tat org.fruit.Scales.weigh(Scales.java:4)\n\tat org.fruit.Main.main(Main.java:9)',
    ],
    spares: ['✓ throws org.fruit.RottenException'],
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
    meets: [
      'Exception in thread "main" org.fruit.RottenException: pear\n\tat org.fruit.Scales.weigh(Scales.java:4)\n\tat org.fruit.Main.main(Main.java:9)',
    ],
    spares: ['Unhandled exceptions are sent to the tracker'],
  },
  'leak-or-corruption': {
    kind: 'crash',
    strength: 2,
    patterns: [/memory leak/i, /detected memory leaks/i, /use[- ]after[- ]free/i, /deadlock detected/i],
    from: STRUCTURED,
    meets: ['error: use-after-free in weigh'],
    spares: ['Checking for memory leaks ... ok'],
  },
});

/** "TypeError: fetch failed" and the like tell of the network. */
function isNotTheEnvironment(fact: Fact, facts: Facts): boolean {
  if (ENVIRONMENT_WORDS.test(fact.text)) return false;
  const thrown = facts.subject.exceptions.find((entry) => fact.text.startsWith(`${entry.type}: ${entry.message}`));
  return thrown === undefined || !ENVIRONMENT_WORDS.test(thrown.chain.join(' '));
}

/** An exception nobody claims for machine, network, set-up or an assertion, thrown from frames of our own. */
function isProductFact(fact: Fact, facts: Facts): boolean {
  const thrown = facts.productException;
  return thrown !== null && fact.text.startsWith(thrown.type);
}
