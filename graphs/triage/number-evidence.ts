import type { Evidence, Finding, ToolOutcome } from '../../src/domain/evidence.ts';

/** What replies brought: new evidence, and the replies without their findings, each with the numbers of what it found. */
export interface Numbered {
  readonly found: Evidence[];
  readonly outcomes: ToolOutcome[];
}

/** Numbers what was found in the order of the replies; the same lines of the same source are the same evidence, whoever brought them. */
export function numberEvidence(replies: readonly ToolOutcome[], known: readonly Evidence[], round: number): Numbered {
  const ids = new Map(known.map((item) => [identityOf(item), item.id]));
  const found: Evidence[] = [];
  const outcomes = replies.map((reply): ToolOutcome => {
    const brought = reply.findings.map((finding) => {
      const identity = identityOf(finding);
      const id = ids.get(identity) ?? `E${known.length + found.length + 1}`;
      if (!ids.has(identity)) found.push({ ...finding, id, tool: reply.answeredBy ?? reply.call.tool });
      ids.set(identity, id);
      return id;
    });
    return { ...reply, findings: [], round, evidence: [...new Set(brought)] };
  });
  return { found, outcomes };
}

function identityOf(finding: Finding): string {
  return JSON.stringify([finding.source, finding.lineStart ?? null, finding.lineEnd ?? null, finding.text]);
}
