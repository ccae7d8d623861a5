/** Lines of a file, 1-based and inclusive. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** Neighbouring lines that a patch took away and put in their place; a start is where they stand, or would stand. */
interface ChangedGroup {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

/**
 * Follows lines back through a patch, as `git log -L` does: whether it touched them, and where they stood before. `before`
 * is null where they did not stand anywhere.
 */
export function traceBack(patch: string, range: LineRange): { readonly touched: boolean; readonly before: LineRange | null } {
  const groups = groupsOf(patch);
  const touched = groups.some((group) => touches(group, range));
  const first = oldLineOf(groups, range.first, ({ oldStart }) => oldStart);
  const last = oldLineOf(groups, range.last, ({ oldStart, oldCount }) => oldStart + oldCount - 1);
  return { touched, before: last < first ? null : { first, last } };
}

/** Lines taken away count between two of the range; at its edge they belonged to the neighbours. */
function touches({ newStart, newCount }: ChangedGroup, { first, last }: LineRange): boolean {
  return newCount === 0 ? first < newStart && newStart <= last : newStart <= last && newStart + newCount > first;
}

/** Where a line stood before: in a group by `inside`, elsewhere moved by what the groups above it added. */
function oldLineOf(groups: readonly ChangedGroup[], line: number, inside: (group: ChangedGroup) => number): number {
  let added = 0;
  for (const group of groups) {
    if (group.newStart > line) break;
    if (line < group.newStart + group.newCount) return inside(group);
    added += group.newCount - group.oldCount;
  }
  return line - added;
}

/** The changed groups of a unified diff, from top to bottom. */
function groupsOf(patch: string): ChangedGroup[] {
  const groups: ChangedGroup[] = [];
  let oldLine = 0;
  let newLine = 0;
  let open: { oldStart: number; oldCount: number; newStart: number; newCount: number } | null = null;
  const close = () => {
    if (open !== null) groups.push(open);
    open = null;
  };
  for (const line of patch.split('\n')) {
    const header = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/.exec(line);
    if (header !== null) {
      close();
      // A side without lines names the line before it.
      oldLine = Number(header[1]) + (header[2] === '0' ? 1 : 0);
      newLine = Number(header[3]) + (header[4] === '0' ? 1 : 0);
    } else if (line.startsWith('-')) {
      open ??= { oldStart: oldLine, oldCount: 0, newStart: newLine, newCount: 0 };
      open.oldCount += 1;
      oldLine += 1;
    } else if (line.startsWith('+')) {
      open ??= { oldStart: oldLine, oldCount: 0, newStart: newLine, newCount: 0 };
      open.newCount += 1;
      newLine += 1;
    } else if (line.startsWith(' ') || line === '') {
      close();
      oldLine += 1;
      newLine += 1;
    }
  }
  close();
  return groups;
}
