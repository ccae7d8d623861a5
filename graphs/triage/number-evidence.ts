import type { Evidence, Finding, ToolOutcome } from '../../src/domain/evidence.ts';

/** Numbers what was found in the order of the replies, without what is known already. */
export function numberEvidence(replies: readonly ToolOutcome[], known: readonly Evidence[]): Evidence[] {
  const seen = new Set(known.map(identityOf));
  const found: Evidence[] = [];
  for (const reply of replies) {
    for (const finding of reply.findings) {
      const identity = identityOf(finding);
      if (seen.has(identity)) continue;
      seen.add(identity);
      found.push({ ...finding, id: `E${known.length + found.length + 1}`, tool: reply.answeredBy ?? reply.call.tool });
    }
  }
  return found;
}

/** The same lines of the same source are the same evidence, whoever brought them. */
function identityOf(finding: Finding): string {
  return JSON.stringify([finding.source, finding.lineStart ?? null, finding.lineEnd ?? null, finding.text]);
}
