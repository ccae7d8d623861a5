import type { Evidence, ToolOutcome } from '../../src/domain/evidence.ts';
import type { Recording } from '../../src/domain/recording.ts';
import { cleanLine, stripEscapes } from '../../src/log/lines/clean.ts';
import { showPage } from '../../src/models/analyst/llm-analyst.ts';

/** The room of a plan's page in characters. */
const ROOM = 6_000;
/** A line is shown if its beginning is: very long ones are cut in the middle. */
const BEGINNING = 150;

/**
 * Lists the lines of evidence, and the authors of lines, that a page neither shows nor names as the rest that
 * is too long to be shown at once.
 */
export function listLacking(page: string, evidence: readonly Evidence[]): string[] {
  const rest = /^Too long to be shown at once: .*$/m.exec(page)?.[0] ?? '';
  const ranges = [...rest.matchAll(/([^\s;]+) lines (\d+)-(\d+)/g)].map(([, source, from, to]) => ({
    source,
    from: Number(from),
    to: Number(to),
  }));
  const isNamed = (source: string, line: number) =>
    ranges.some((range) => range.source === source && line >= range.from && line <= range.to);
  const shown = new Set([...page.matchAll(/^(\d+)\| /gm)].map(([, line]) => Number(line)));
  return evidence.flatMap(({ tool, title, text, source, lineStart }) => {
    const isTitled = tool !== 'read_blame' || page.includes(title.slice(0, 80));
    const lines = stripEscapes(text).split('\n').map(cleanLine);
    const lacking = lines.filter((line, at) => {
      if (line.trim() === '') return false;
      if (lineStart === undefined) return !page.includes(line.slice(0, BEGINNING));
      return !shown.has(lineStart + at) && !isNamed(source, lineStart + at);
    });
    return [...(isTitled ? [] : [title]), ...lacking];
  });
}

/** Counts the lines that the calls of a recorded model returned, and those that the next page lacks. */
export function countRequested({ subject, calls, analysis }: Recording): {
  readonly requested: number;
  readonly lacking: readonly string[];
} {
  const steps = analysis?.steps ?? [];
  const known = analysis?.evidence ?? [];
  const outcomes = steps
    .filter(({ node }) => node === 'execute_tool')
    .flatMap(({ outcomes: some = [], round }) => some.map((outcome) => toOutcome(outcome, round)));
  const chosenRounds = steps
    .filter(({ node, by }) => node === 'select_tool' && by === 'llm')
    .map(({ round }) => round);
  const counts = chosenRounds.map((round) => {
    const until = outcomes.filter((outcome) => (outcome.round ?? 0) <= round);
    const ids = new Set(until.flatMap((outcome) => outcome.evidence ?? []));
    const evidence = known.filter(({ tool, id }) => tool === 'log' || ids.has(id));
    const page = showPage({ subject, evidence, outcomes: until, chosenRounds: [round] }, ROOM, {
      onlyNamed: true,
    });
    const newest = until.filter((outcome) => outcome.round === round);
    const asked = new Set(newest.flatMap((outcome) => outcome.evidence ?? []));
    const items = known.filter(({ id }) => asked.has(id));
    const requested = items.reduce((sum, { text }) => sum + text.split('\n').length, 0);
    return { requested, lacking: listLacking(page, items) };
  });
  return {
    requested: counts.reduce((sum, { requested }) => sum + requested, 0),
    lacking: counts.flatMap(({ lacking }) => lacking),
  };

  function toOutcome(outcome: Omit<ToolOutcome, 'findings'>, round: number): ToolOutcome {
    const key = JSON.stringify(outcome.call);
    const findings = calls.find(({ call }) => JSON.stringify(call) === key)?.outcome?.findings;
    const evidence = (findings ?? []).flatMap((finding) => {
      const isIt = ({ source, lineStart, lineEnd, text }: Evidence) =>
        source === finding.source &&
        lineStart === finding.lineStart &&
        lineEnd === finding.lineEnd &&
        text === finding.text;
      return known.find(isIt)?.id ?? [];
    });
    return { ...outcome, findings: [], round, evidence };
  }
}
