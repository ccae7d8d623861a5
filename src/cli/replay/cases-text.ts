import { visibleLine } from '../../publish/visible-text.ts';
import type { CaseSetSummary } from '../../replay/cases/case-set.ts';

/** Rows of one table: counts right-aligned, the largest first. */
export function countRows(counts: Readonly<Record<string, number>>, most = Number.POSITIVE_INFINITY): string[] {
  const sorted = Object.entries(counts).sort(([left, ones], [right, others]) => others - ones || (left < right ? -1 : 1));
  const shown = sorted
    .slice(0, most)
    .map(([name, count]) => `${String(count).padStart(8)}  ${name === 'none' ? 'without a category' : visibleLine(name)}`);
  return sorted.length <= most ? shown : [...shown, `          and ${sorted.length - most} more`];
}

/** "1 case", "2 cases". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const MAX_SHOWN = 20;

/** What a written case set holds, and what is not in it. */
export function setText(out: string, set: CaseSetSummary, notCases: Readonly<Record<string, number>> = {}): string {
  const masked = set.secrets === 0 ? 'nothing masked' : `${counted(set.secrets, 'place')} masked`;
  const left = set.firstLeftOut
    .slice(0, MAX_SHOWN)
    .map(({ line, id, reason }) => `${`${visibleLine(id ?? `line ${line}`)}:`.padStart(10)} ${visibleLine(reason)}`);
  const more = set.leftOut > MAX_SHOWN ? [`          and ${set.leftOut - MAX_SHOWN} more`] : [];
  return [
    `${counted(set.cases, 'case')} in ${out}, ${counted(set.logs, 'log')}, ${masked}.`,
    ...countRows(set.categories),
    ...(set.leftOut === 0 ? [] : [`Left out, ${counted(set.leftOut, 'case')} that could not be read:`, ...left, ...more]),
    ...(Object.keys(notCases).length === 0 ? [] : ['Skipped:', ...countRows(notCases)]),
  ].join('\n');
}
