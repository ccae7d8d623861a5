import type { Classification } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { classifyByRules } from './classify.ts';
import { listRetrieved, type Retrieved } from './evidence-facts.ts';

/** The share of a failure's line that a document must cover. */
const COVERED = 0.75;
/** The minimum lead in likeness over documents of the same kind or category. */
const LEAD = 0.1;
const FEWEST_WORDS = 2;
const MAX_SPAN = 8_000;
const NOT_DISTINCTIVE: ReadonlySet<string> = new Set(
  'error errors failed failure process completed with code exit from this that test tests'.split(' '),
);

/**
 * Finds the best document about another kind and category of failure whose distinctive words are all in the
 * failure's own messages. Returns null if there is none, if a document of the answer's own kind or category
 * is about as similar, or if the taxonomy decides between the two categories.
 */
export function findContraryDocument(
  subject: TriageSubject,
  { category, kind }: Classification,
  evidence: readonly Evidence[],
): Retrieved | null {
  if (classifyByRules(subject).decisive?.rule.tie === true) return null;
  const documents = listRetrieved(evidence).filter(({ evidence: item }) => item.tool === 'search_knowledge');
  const sameCategory =
    documents.find((document) => document.kind === kind || document.category === category)?.score ?? 0;
  const span = collectOwnWords(subject);
  const contrary = documents.find(({ category: other, kind: otherKind, score, phrase }) => {
    if (other === null || other === category || otherKind === kind) return false;
    if (score < Math.max(COVERED, sameCategory + LEAD)) return false;
    const words = extractWords(phrase).filter((word) => !NOT_DISTINCTIVE.has(word));
    return words.length >= FEWEST_WORDS && words.every((word) => span.has(word));
  });
  return contrary ?? null;
}

/** Collects the words of the failure's messages, exceptions and compiler errors. */
function collectOwnWords(subject: TriageSubject): ReadonlySet<string> {
  const { failures, failingTests, exceptions, diagnostics } = subject;
  const texts = [
    ...failures.map(({ message }) => message),
    ...failingTests.map(({ message }) => message ?? ''),
    ...exceptions.map(({ type, message }) => `${type} ${message}`),
    ...diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message),
  ];
  return new Set(extractWords(texts.join('\n').slice(0, MAX_SPAN)));
}

function extractWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? [];
}
