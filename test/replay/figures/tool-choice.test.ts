import { describe, expect, it } from 'vitest';
import { DatasetRow } from '../../../src/replay/cases/case.ts';
import { scoreCases } from '../../../src/replay/figures/score.ts';
import { scoreToolChoice } from '../../../src/replay/figures/tool-choice.ts';
import { renderFigures, toFigureList } from '../../../src/replay/report.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';
import { createReplayed, findFigure } from './cases.ts';

/** A case that these tools settle, and the calls of its run, such as "read_file" or "read_blame empty". */
function createSettled(settledBy: readonly string[], calls: readonly string[], id = 'x'): ReplayedCase {
  const tools = calls.map((call) => {
    const [tool = '', status = 'ok'] = call.split(' ');
    return { tool, status };
  });
  return createReplayed({ id, settled_by: [...settledBy] }, { tools, iterations: 1, category: 'CODE_ERROR' });
}

const findValue = (cases: readonly ReplayedCase[], name: string) =>
  findFigure(scoreToolChoice(cases), name).value;
const [FIRST, TWO] = ['tool choice: settled by the first', 'tool choice: settled by the first two'];

describe('the choice of tools', () => {
  it('is right if a tool that settles the case is the first, or among the first two, of those chosen', () => {
    const cases = [
      createSettled(['read_blame'], ['search_knowledge', 'find_files', 'read_blame', 'read_file'], 'first'),
      createSettled(['read_file'], ['search_knowledge', 'read_blame', 'read_file'], 'second'),
      createSettled(['search_code'], ['read_blame', 'read_file', 'search_code'], 'third'),
    ];
    expect(findValue(cases, FIRST)).toBeCloseTo(1 / 3);
    expect(findValue(cases, TWO)).toBeCloseTo(2 / 3);
    expect(findValue(cases, 'tool choice: settled by any')).toBe(1);
    expect(findFigure(scoreToolChoice(cases), TWO).against).toEqual(['third']);
  });

  it('counts a tool once, without refused calls and answers without findings', () => {
    const repeated = createSettled(['read_file'], ['read_blame', 'read_blame', 'read_file']);
    const refused = createSettled(['read_file'], ['read_blame refused', 'search_code refused', 'read_file']);
    const empty = createSettled(['read_file'], ['read_file empty']);
    const never = createSettled(['read_file'], ['read_blame']);
    expect([repeated, refused].map((replayedCase) => findValue([replayedCase], TWO))).toEqual([1, 1]);
    expect(findValue([refused], FIRST)).toBe(1);
    expect(
      [empty, never].map((replayedCase) => findValue([replayedCase], 'tool choice: settled by any')),
    ).toEqual([0, 0]);
  });

  it('does not count calls that every failure gets', () => {
    const known = createSettled(
      ['search_knowledge'],
      ['search_error_library', 'search_knowledge', 'read_file'],
    );
    const unknown = createSettled(['search_error_library'], ['search_error_library empty', 'read_file']);
    const figures = scoreToolChoice([known, unknown]);
    expect(findFigure(figures, 'settled by a look-up that every failure gets')).toMatchObject({
      value: 0.5,
      cases: 2,
    });
    expect(figures.map(({ name }) => name)).not.toContain(TWO);
    expect(findFigure(figures, 'settled by a look-up or the first two').value).toBe(0.5);
  });

  it('is in the report and JSON of a replay only if rows have the label', () => {
    const labelled = scoreCases([createSettled(['read_file'], ['read_file'])], 1);
    expect(renderFigures('x', labelled)).toContain(`${TWO} `);
    expect(toFigureList(labelled)).toContainEqual(
      expect.objectContaining({ section: 'tool choice', name: TWO, value: 1, cases: 1 }),
    );
    const plain = scoreCases([createReplayed({ id: 'x' }, { iterations: 1 })], 1);
    expect(plain.map(({ title }) => title)).not.toContain('tool choice');
  });

  it('uses the label of the rows', () => {
    const row = DatasetRow.parse({ id: 'x', log: 'y', settled_by: ['read_blame', 'read_commit_history'] });
    expect(row.settled_by).toEqual(['read_blame', 'read_commit_history']);
  });
});
