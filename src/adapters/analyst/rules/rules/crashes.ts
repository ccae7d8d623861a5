import type { Fact, Facts } from '../facts.ts';
import { type Rule, ruleTable, STRUCTURED } from '../rule.ts';

/** The product throws, crashes or races. */
export const CRASH_RULES: readonly Rule[] = ruleTable({ category: 'CODE_ERROR' }, [
  [
    'null-pointer',
    'null_reference',
    3.8,
    /NullPointer(?:Exception)?\b|NullReferenceException|nil pointer dereference|'?NoneType'? object (?:has no|is not)|Cannot read propert(?:y|ies) .{0,80}(?:of|from) (?:undefined|null)|(?:undefined|null) is not (?:an object|a function)|undefined method .{1,80} for nil|Cannot set propert(?:y|ies) .{0,40}of (?:undefined|null)|Call to a member function .{0,80} on null|Option::unwrap\(\)` on a `None`|unexpectedly found nil|Cannot destructure property/,
  ],
  [
    'type-error-thrown',
    'null_reference',
    3.3,
    /\bTypeError: (?!.{0,120}unexpected keyword argument)|\bAttributeError: |is not a function\b|is not (?:iterable|callable)|ClassCastException|undefined method|\bNameError: |\bReferenceError: |\bUnboundLocalError: |InvalidCastException/,
  ],
  [
    'index-or-value-error',
    'crash',
    3,
    /\b(?:IndexError|KeyError|ValueError|RangeError|ZeroDivisionError|RecursionError|StopIteration|UnicodeDecodeError|FileExistsError|NotImplementedError|OverflowError): |IndexOutOfBounds|ArrayIndexOutOfRange|index out of range|NegativeArraySize|ArithmeticException|NumberFormatException|ConcurrentModificationException|NoSuchElementException|IllegalStateException|IllegalArgumentException|UnsupportedOperationException|StackOverflow|Maximum call stack size|InvalidOperationException|DirectoryNotFoundException|std::out_of_range/,
  ],
  [
    'segmentation-fault',
    'crash',
    4.5,
    /\bSIGSEGV\b|[Ss]egmentation fault|\bSIGABRT\b|\bSIGBUS\b|\bSIGILL\b|EXC_BAD_ACCESS|Aborted \(core dumped\)|\(core dumped\)|access violation|STATUS_ACCESS_VIOLATION|A fatal error has been detected by the Java Runtime|double free|free\(\): invalid|stack smashing detected|heap corruption|Got a SIGABRT|Native Crash|terminate called after throwing/,
  ],
  [
    'sanitizer-report',
    'crash',
    5,
    /(?:Address|Memory|Thread|Leak|UndefinedBehavior)Sanitizer:|runtime error: (?:signed integer|load of|index|member|null|left shift|division)|(?:Read|Write) of size \d{1,6} at 0x/,
  ],
  ['data-race', 'crash', 4, /DATA RACE|race detected during execution|data race/],
  [
    'panic',
    'crash',
    3.6,
    /^panic: (?!test timed out)|\bpanicked at\b|fatal error: all goroutines are asleep|fatal error: concurrent map|\bkernel panic/,
  ],
  [
    'exit-by-signal',
    'crash',
    3.5,
    /\b(?:exit (?:code|status)|Error|exited with(?: code)?|code) (?:139|134|132|136|-1073741819)\b|3221225477/,
    { when: (_fact, facts) => facts.assertion === null },
  ],
  ['uncaught-product-exception', 'crash', 2.6, /^[\w.$]{0,160}(?:Exception|Error|Panic)\b/, { from: ['exception'], when: isProductFact }],
  [
    'unhandled-exception',
    'crash',
    2,
    /Unhandled(?: promise)? (?:rejection|exception)|Uncaught (?:exception|error)|Exception in thread "|Traceback \(most recent call last\)/i,
    { when: (_fact, facts) => facts.productException !== null },
  ],
  ['leak-or-corruption', 'crash', 2, /memory leak|detected memory leaks|use[- ]after[- ]free|deadlock detected/i, { from: STRUCTURED }],
]);

/** An exception nobody claims for machine, network, set-up or an assertion, thrown from frames of our own. */
function isProductFact(fact: Fact, facts: Facts): boolean {
  const thrown = facts.productException;
  return thrown !== null && fact.text.startsWith(thrown.type);
}
