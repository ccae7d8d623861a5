import type { Fact, Facts } from '../facts.ts';
import { type Rule, ruleTable, STRUCTURED } from '../rule.ts';
import { ENVIRONMENT_WORDS } from '../vocabulary.ts';

/** The product throws, crashes or races. */
export const CRASH_RULES: readonly Rule[] = ruleTable({ category: 'CODE_ERROR' }, [
  {
    name: 'null-pointer',
    kind: 'null_reference',
    strength: 3.8,
    patterns: [
      /NullPointer(?:Exception)?\b/,
      /NullReferenceException/,
      /nil pointer dereference/,
      /'?NoneType'? object (?:has no|is not)/,
      /Cannot read propert(?:y|ies) .{0,80}(?:of|from) (?:undefined|null)/,
      /(?:undefined|null) is not (?:an object|a function)/,
      /undefined method .{1,80} for nil/,
      /Cannot set propert(?:y|ies) .{0,40}of (?:undefined|null)/,
      /Call to a member function .{0,80} on null/,
      /Option::unwrap\(\)` on a `None`/,
      /unexpectedly found nil/,
      /Cannot destructure property/,
    ],
    when: isNotTheEnvironment,
  },
  {
    name: 'type-error-thrown',
    kind: 'null_reference',
    strength: 3.3,
    patterns: [
      /\bTypeError: (?!.{0,120}unexpected keyword argument)/,
      /\bAttributeError: /,
      /is not a function\b/,
      /is not (?:iterable|callable)/,
      /ClassCastException/,
      /undefined method/,
      /\bNameError: /,
      /\bReferenceError: /,
      /\bUnboundLocalError: /,
      /Call to undefined (?:function|method)/,
      /uninitialized constant /,
      /UndefinedFunctionError/,
      /InvalidCastException/,
    ],
    when: isNotTheEnvironment,
  },
  {
    name: 'index-or-value-error',
    kind: 'crash',
    strength: 3,
    patterns: [
      /\b(?:IndexError|KeyError|ValueError|RangeError|ZeroDivisionError|RecursionError|StopIteration|UnicodeDecodeError|FileExistsError|NotImplementedError|OverflowError): /,
      /IndexOutOfBounds/,
      /ArrayIndexOutOfRange/,
      /index out of range/,
      /NegativeArraySize/,
      /ArithmeticException/,
      /NumberFormatException/,
      /ConcurrentModificationException/,
      /NoSuchElementException/,
      /IllegalStateException/,
      /IllegalArgumentException/,
      /UnsupportedOperationException/,
      /StackOverflow/,
      /Maximum call stack size/,
      /InvalidOperationException/,
      /DirectoryNotFoundException/,
      /std::out_of_range/,
      /(?:BeanCreation|UnsatisfiedDependency|NoSuchBeanDefinition)Exception/,
    ],
    when: isNotTheEnvironment,
  },
  {
    name: 'shell-saw-crash',
    kind: 'crash',
    strength: 4.5,
    patterns: [/line \d{1,6}: +\d{1,8} (?:Segmentation fault|Aborted|Illegal instruction|Bus error|Floating point exception)/],
  },
  {
    name: 'segmentation-fault',
    kind: 'crash',
    strength: 4.5,
    patterns: [
      /\bSIGSEGV\b/,
      /[Ss]egmentation fault/,
      /\bSIGABRT\b/,
      /\bSIGBUS\b/,
      /\bSIGILL\b/,
      /EXC_BAD_ACCESS/,
      /Aborted \(core dumped\)/,
      /\(core dumped\)/,
      /access violation/,
      /STATUS_ACCESS_VIOLATION/,
      /A fatal error has been detected by the Java Runtime/,
      /double free/,
      /free\(\): invalid/,
      /stack smashing detected/,
      /heap corruption/,
      /Got a SIGABRT/,
      /^\s{0,8}Native stacktrace:/,
      /critical: Stacktrace:/,
      /terminated without (?:properly )?saying goodbye/,
      /Native Crash/,
      /terminate called after throwing/,
    ],
  },
  {
    name: 'sanitizer-report',
    kind: 'crash',
    strength: 5,
    patterns: [
      /(?:Address|Memory|Thread|Leak|UndefinedBehavior)Sanitizer:/,
      /runtime error: (?:signed integer|load of|index|member|null|left shift|division)/,
      /(?:Read|Write) of size \d{1,6} at 0x/,
    ],
  },
  { name: 'data-race', kind: 'crash', strength: 4, patterns: [/DATA RACE/, /race detected during execution/, /data race/] },
  {
    name: 'panic',
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
  },
  {
    name: 'exit-by-signal',
    kind: 'crash',
    strength: 3.5,
    patterns: [/\b(?:exit (?:code|status)|Error|exited with(?: code)?|code) (?:139|134|132|136|-1073741819)\b/, /3221225477/],
    when: (_fact, facts) => facts.assertion === null,
  },
  {
    name: 'uncaught-product-exception',
    kind: 'crash',
    strength: 2.6,
    patterns: [/^[\w.$]{0,160}(?:Exception|Error|Panic)\b/],
    from: ['exception'],
    when: isProductFact,
  },
  {
    name: 'unhandled-exception',
    kind: 'crash',
    strength: 2,
    patterns: [
      /Unhandled(?: promise)? (?:rejection|exception)/i,
      /Uncaught (?:exception|error)/i,
      /Exception in thread "/i,
      /Traceback \(most recent call last\)/i,
    ],
    when: (_fact, facts) => facts.productException !== null,
  },
  {
    name: 'leak-or-corruption',
    kind: 'crash',
    strength: 2,
    patterns: [/memory leak/i, /detected memory leaks/i, /use[- ]after[- ]free/i, /deadlock detected/i],
    from: STRUCTURED,
  },
]);

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
