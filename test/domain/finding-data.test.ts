import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../src/domain/evidence.ts';
import { listEvidenceFrom, readData } from '../../src/domain/finding-data.ts';

function createEvidence(id: string, tool: string, data?: Record<string, unknown>): Evidence {
  return { id, tool, title: id, text: '', source: 'repository', ...(data && { data }) };
}

describe('the data of findings', () => {
  it('is read by the tool that returned it, in the order of the evidence', () => {
    const all = [
      createEvidence('E1', 'read_blame', { path: 'src/a.ts', lines: [[3, 4]] }),
      createEvidence('E2', 'log'),
      createEvidence('E3', 'search_code', { path: 'src/b.ts', lines: [3, 4] }),
      createEvidence('E4', 'read_blame', { path: 'src/c.ts' }),
    ];
    const found = listEvidenceFrom(all, ['search_code', 'read_blame']);
    expect(found.map(({ tool, item, data }) => [tool, item.id, data.path])).toEqual([
      ['read_blame', 'E1', 'src/a.ts'],
      ['search_code', 'E3', 'src/b.ts'],
      ['read_blame', 'E4', 'src/c.ts'],
    ]);
  });

  it('is null if it is absent or has another form, as in findings of earlier releases', () => {
    const data = readData('read_blame', { data: { path: 7, author: 'ada', files: [1] } });
    expect(data).toMatchObject({ path: null, author: 'ada', files: null, pullRequest: null });
    expect(readData('count_consecutive_failures', {})).toEqual({
      count: null,
      same: null,
      firstSameNumber: null,
    });
  });
});
