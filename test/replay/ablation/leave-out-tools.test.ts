import { describe, expect, it } from 'vitest';
import { AblationStage } from '../../../src/domain/calibration.ts';
import { CATEGORIES } from '../../../src/domain/category.ts';
import type { Toolbox } from '../../../src/ports/toolbox.ts';
import { leaveOutTools } from '../../../src/replay/ablation.ts';
import { createTools } from '../../../src/tools/all-tools.ts';
import { createToolbox } from '../../../src/tools/toolbox.ts';
import { sampleSubject } from '../../support/subject.ts';
import { createEmptySources } from '../../tools/sources.ts';

const toolbox = createToolbox(createTools(createEmptySources()), { mask: (text) => text });
const namesIn = (box: Toolbox) =>
  [...new Set(CATEGORIES.flatMap((category) => box.offered(category).map(({ name }) => name)))].sort();
const never = new AbortController().signal;

describe('tools that are left out', () => {
  it('include all except the question to a person, each in one source', () => {
    const sources = ['library', 'knowledge', 'code-host', 'history', 'logs', 'web'] as const;
    const left = namesIn(leaveOutTools(toolbox, sources));
    expect(left).toEqual(['ask_reviewer']);
    const counts = sources.map(
      (source) => namesIn(toolbox).length - namesIn(leaveOutTools(toolbox, [source])).length,
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(namesIn(toolbox).length - 1);
  });

  it('are none for stages without tools', () => {
    const others = AblationStage.options.filter(
      (stage) => namesIn(leaveOutTools(toolbox, [stage])).length === namesIn(toolbox).length,
    );
    expect(others).toEqual(['loop', 'corrections', 'sections', 'extractors', 'ranking', 'reducer']);
  });

  it('are not offered, described, available or run, unlike the others', async () => {
    const without = leaveOutTools(toolbox, ['knowledge']);
    const subject = sampleSubject();
    expect(without.describe('search_knowledge')).toBeNull();
    expect(without.describe('search_error_library')).toEqual(toolbox.describe('search_error_library'));
    const askable = await without.askable?.('CODE_ERROR', subject, never);
    expect(askable?.map(({ name }) => name)).not.toContain('search_knowledge');
    const call = { tool: 'search_knowledge', args: {}, why: 'test' };
    expect((await without.run(call, subject, 'CODE_ERROR', never)).status).toBe('unavailable');
    expect(namesIn(leaveOutTools(toolbox, ['tools']))).toEqual([]);
  });
});
