import { describe, expect, it } from 'vitest';
import type { Whose } from '../../../src/domain/whose.ts';
import {
  renderGithubCommands,
  renderMarkdown,
  renderPlain,
  renderTerminal,
} from '../../../src/service/answers/render.ts';
import {
  createRecalledAnalysis,
  createUnsureAnalysis,
  sampleAnalysis,
  sampleExperiment,
} from '../../support/sample-analysis.ts';

const terminal = { color: false, width: 78 };

it('the result of running the command again comes before the cause, as plain text, in a terminal and in Markdown', () => {
  const analysis = sampleAnalysis({ experiment: sampleExperiment() });
  for (const text of [
    renderPlain(analysis),
    renderTerminal(analysis, { color: false, width: 400 }),
    renderMarkdown(analysis),
  ]) {
    expect(text).toContain('Fails 3 of 3 here');
    expect(text.indexOf('Fails 3 of 3 here')).toBeLessThan(text.indexOf('The new tax step rounds each line'));
  }
});

it('the origin of the failure comes first if an experiment or the history shows it', () => {
  const tried = sampleAnalysis({ experiment: sampleExperiment() });
  expect(renderTerminal(tried, terminal)).toMatch(/^Is it me\? Yes, new with this change: Fails 3 of 3 here/);
  expect(renderPlain(tried)).toMatch(/^Answer\tsure\nWhose\tIs it me\? Yes, new with this change/);
  const whose: Whose = {
    verdict: 'flaky',
    isDefault: false,
    probability: 0.97,
    proof: [{ what: 'flakes', flakes: 3, runs: 15 }],
    act: { what: 'rerun' },
  };
  const text = renderTerminal(sampleAnalysis(), { ...terminal, whose });
  expect(text).toMatch(
    /^Is it me\? Most likely no, flaky \(97 %\): flaked in 20 % of 15 runs\. Run it\nagain\.\n/,
  );
  expect(renderTerminal(sampleAnalysis(), terminal)).not.toContain('Is it me');
});

describe('the output in a terminal', () => {
  it('shows a confident answer with its evidence in the order of the log', () => {
    expect(renderTerminal(sampleAnalysis(), terminal)).toBe(`\
Test failure · wrong value                                           91 % sure
The cart total is rounded twice
The new tax step rounds each line before summing; the total differs by 0.01.
Fix        Round once, after the sum, in \`src/cart/tax.ts:41\`.
Evidence   288501  expected 10.20, got 10.21
           288502      at sum (src/cart/tax.ts:41)
Suspect    src/cart/tax.ts:41 a41f9c2 ada 0.81
1 failure, 1 cause · 12 s · 14,210 tokens · $0.02 · 1 step · 3 tool calls ·
311,101 log lines → 412 kept · ana_9f2c
`);
  });

  it('marks an uncertain answer, with what would settle it', () => {
    const text = renderTerminal(createUnsureAnalysis(), terminal);
    expect(text).toContain(
      'Needs review: Test failure · wrong value                             61 % sure\n',
    );
    expect(text).toContain('Hypothesis 1. Code error: `tax.ts:41` throws when the list is empty. To\n');
    expect(text).toContain('           2. Configuration: ');
  });

  it('names who confirmed a known cause, and that no model was used', () => {
    const text = renderTerminal(createRecalledAnalysis(), terminal);
    expect(text).toContain('known cause\nconfirmed by grace on 2026-10-12, seen 14 times\n');
    expect(text).toContain('42 ms · no model');
    expect(text).not.toContain('sure');
  });

  it('calls an abstained category a guess', () => {
    const unsure = createUnsureAnalysis();
    const abstained = { ...unsure, classification: { ...unsure.classification, abstained: true } };
    expect(renderTerminal(abstained, terminal)).toContain('Not sure: best guess Test failure');
  });

  it('names the source of each line if there are several', () => {
    const { answer } = sampleAnalysis();
    const quotes = [
      { source: 'build.log', line: 9, text: 'one' },
      { source: 'agent.log', line: 120, text: 'two' },
    ];
    const text = renderTerminal(
      sampleAnalysis({ answer: { ...answer, claims: [{ text: 'c', evidence: [], quotes }] } }),
      terminal,
    );
    expect(text).toContain('Evidence     build.log:9  one\n           agent.log:120  two\n');
  });

  it('names the passed build since which the lines are new', () => {
    const analysis = sampleAnalysis({ green: { buildId: 'bld_1', number: '1234', url: null } });
    expect(renderTerminal(analysis, terminal)).toContain('\nNew        since build 1234\n');
    expect(renderPlain(analysis)).toContain('New\tsince build 1234\n');
    expect(renderMarkdown(analysis)).toContain('\n\n**New:** since build 1234\n\n');
  });

  it('has colors only on request', () => {
    expect(renderTerminal(sampleAnalysis(), terminal)).not.toContain('\u001b');
    expect(renderTerminal(sampleAnalysis(), { color: true, width: 78 })).toContain(
      '\u001b[1mFix        \u001b[22m',
    );
  });

  it('shows the cited evidence of claims without quotations, and titles of evidence that is not from a log', () => {
    const { answer, evidence } = sampleAnalysis();
    const text = renderTerminal(
      sampleAnalysis({
        answer: { ...answer, claims: [{ text: 'c', evidence: ['E1', 'E2'], quotes: [] }] },
        evidence: [
          ...evidence,
          {
            id: 'E2',
            tool: 'search_knowledge',
            title: 'Rounding in totals',
            text: 'long',
            source: 'knowledge/ERR009',
          },
        ],
      }),
      terminal,
    );
    expect(text).toContain('Evidence   288500  FAIL cart total\n');
    expect(text).toContain('Related    knowledge/ERR009: Rounding in totals\n');
  });
});

describe('the plain output', () => {
  it('has one value per line under stable keys', () => {
    const rows = renderPlain(createUnsureAnalysis({ notes: ['the model did not answer; rules judged'] }))
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    expect(rows.map(([key]) => key)).toEqual(
      'Answer Category Kind Confidence Title Cause Fix Evidence Evidence Suspect Hypothesis Hypothesis Reason Note Usage Id'.split(
        ' ',
      ),
    );
    expect(rows.every((row) => row.length === 2)).toBe(true);
    expect(rows.at(0)).toEqual(['Answer', 'unsure']);
    expect(rows.at(7)).toEqual(['Evidence', 'build.log:288501 expected 10.20, got 10.21']);
  });

  it('omits what differs between two runs if it must be stable', () => {
    expect(renderPlain(sampleAnalysis({ id: 'ana_a', milliseconds: 1 }), { stable: true })).toBe(
      renderPlain(sampleAnalysis({ id: 'ana_b', milliseconds: 2 }), { stable: true }),
    );
  });

  it('never rounds up to certainty', () => {
    const { verdict } = sampleAnalysis();
    expect(renderPlain(sampleAnalysis({ verdict: { ...verdict, confidence: 0.999 } }))).toContain(
      'Confidence\t99 %\n',
    );
    expect(renderPlain(sampleAnalysis({ verdict: { ...verdict, confidence: 0.29 } }))).toContain(
      'Confidence\t29 %\n',
    );
  });
});

describe('the output in Markdown', () => {
  it('shows a confident answer', () => {
    expect(renderMarkdown(sampleAnalysis())).toBe(`\
<details open><summary><b>The cart total is rounded twice</b>: Test failure · wrong value, 1 failure, 91 % sure</summary>

The new tax step rounds each line before summing; the total differs by 0.01.

**Fix:** Round once, after the sum, in \`src/cart/tax.ts:41\`.

\`\`\`text
288501  expected 10.20, got 10.21
288502      at sum (src/cart/tax.ts:41)
\`\`\`

**Suspects:** \`src/cart/tax.ts:41\` (a41f9c2, ada)

</details>

<sub>1 failure, 1 cause · 12 s · 14,210 tokens · &#36;0.02 · 3 tools asked · 311,101 log lines → 412 kept · ana\\_9f2c</sub>
`);
  });

  it('marks an uncertain answer, and lists possible explanations', () => {
    const text = renderMarkdown(createUnsureAnalysis({ failureIds: ['a', 'b', 'c'] }));
    expect(text).toContain('**3 failures. Faultline is not sure why (61 %). The answer needs review.**');
    expect(text).toContain('<b>2 explanations fit</b>: best guess Test failure');
    expect(text).toContain(
      "2. Configuration: `TAX_TABLE` is not set in this job. To confirm: the job's environment",
    );
    expect(text).toContain('**Needs review because:** one claim rests on a single line');
  });

  it('names who confirmed a known cause instead of a percentage', () => {
    const text = renderMarkdown(createRecalledAnalysis());
    expect(text).toContain('known cause, confirmed by grace on 2026-10-12, seen 14 times</summary>');
    expect(text).not.toContain('%');
  });

  it('states nothing about merging', () => {
    for (const analysis of [sampleAnalysis(), createUnsureAnalysis(), createRecalledAnalysis()]) {
      expect(renderMarkdown(analysis)).not.toMatch(/\b(safe|merge)\b/i);
    }
  });
});

describe('the workflow commands for GitHub', () => {
  it('mark each suspect', () => {
    expect(renderGithubCommands(sampleAnalysis())).toBe(
      '::error file=src/cart/tax.ts,line=41,title=The cart total is rounded twice (Test failure%2C 91 %25)::The new tax step rounds each line before summing; the total differs by 0.01. Fix: Round once, after the sum, in `src/cart/tax.ts:41`.\n',
    );
  });

  it('warn without a place if there is no suspect and the answer is uncertain', () => {
    const { answer } = createUnsureAnalysis();
    expect(renderGithubCommands(createUnsureAnalysis({ answer: { ...answer, suspects: [] } }))).toMatch(
      /^::warning title=The cart total is rounded twice \(Test failure%2C not sure%2C 61 %25\)::/,
    );
  });
});
