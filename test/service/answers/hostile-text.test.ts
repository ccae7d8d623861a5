import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Analysis } from '../../../src/domain/analysis.ts';
import { fence, toCodeSpan, toHtml, toInline, toProse } from '../../../src/notifications/visible-text.ts';
import {
  renderGithubCommands,
  renderMarkdown,
  renderPlain,
  renderTerminal,
} from '../../../src/service/answers/render.ts';
import { hostile, removeCode, renderMarkdownText as render } from '../../support/hostile-text.ts';
import {
  createRecalledAnalysis,
  createUnsureAnalysis,
  sampleAnalysis,
} from '../../support/sample-analysis.ts';
import { runs } from '../../support/thorough.ts';

/** Enough to find slips within days of runs; few enough to keep the suite quick. */
const RUNS = runs(300);
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** Every text that others write, replaced by hostile text. */
const hostileAnalysis = fc
  .tuple(
    fc.constantFrom(sampleAnalysis(), createUnsureAnalysis(), createRecalledAnalysis()),
    fc.array(hostile, { minLength: 12, maxLength: 12 }),
  )
  .map(([analysis, texts]) => poison(analysis, (index) => texts[index % texts.length] ?? ''));

function poison(analysis: Analysis, text: (index: number) => string): Analysis {
  return {
    ...analysis,
    answer: {
      ...analysis.answer,
      title: text(0),
      rootCause: text(1),
      fixRecommendation: text(2),
      claims: [
        { text: text(3), evidence: ['E1', 'E2'], quotes: [{ source: text(4), line: 7, text: text(5) }] },
      ],
      suspects: [{ path: text(6), line: 3, commit: text(7), author: text(8), score: 0.5, reason: text(9) }],
      hypotheses: analysis.answer.hypotheses.map((hypothesis) => ({
        ...hypothesis,
        text: text(10),
        settledBy: text(11),
      })),
    },
    verdict: { ...analysis.verdict, reasons: [text(3)] },
    evidence: [
      {
        id: 'E2',
        tool: 'search_web',
        title: text(4),
        text: text(5),
        source: text(6),
        url: 'https://evil.example',
      },
    ],
    notes: [text(7)],
    recalled: analysis.recalled === null ? null : { ...analysis.recalled, confirmedBy: text(8) },
  };
}

describe('T49: hostile text in Markdown', () => {
  it('creates no element except our own', () => {
    fc.assert(
      fc.property(hostileAnalysis, (analysis) => {
        const page = render(renderMarkdown(analysis));
        const tags = new Set(
          Array.from(page.matchAll(/<(\/?[a-z][a-z0-9]*|!--)/gi), ([, tag = '']) => tag.replace('/', '')),
        );
        const ours = ['details', 'summary', 'b', 'p', 'strong', 'pre', 'code', 'sub', 'ol', 'li', 'br'];
        expect([...tags].filter((tag) => !ours.includes(tag))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('mentions nobody, refers to no issue and forges no marker', () => {
    fc.assert(
      fc.property(hostileAnalysis, (analysis) => {
        const markdown = renderMarkdown(analysis);
        expect(markdown).not.toContain('<!--');
        expect(removeCode(render(markdown))).not.toMatch(/@\w|(?<!&)#\d|GH-\d|:\/\/|www\.\w/i);
        expect(markdown).not.toMatch(/^\s*\//m);
      }),
      { numRuns: RUNS },
    );
  });

  it('keeps the structure: one block opened, one closed, one footer', () => {
    fc.assert(
      fc.property(hostileAnalysis, (analysis) => {
        const page = render(renderMarkdown(analysis));
        expect(page.match(/<details open><summary>/g)).toHaveLength(1);
        expect(page.match(/<\/details>/g)).toHaveLength(1);
        expect(page.trimEnd().endsWith('</sub></p>')).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('stays far below the size limit of a comment, however long the texts', () => {
    const long = '`@<#$'.repeat(20_000);
    for (const analysis of [sampleAnalysis(), createUnsureAnalysis(), createRecalledAnalysis()]) {
      const poisoned = poison(analysis, () => long);
      const many = {
        ...poisoned,
        answer: {
          ...poisoned.answer,
          suspects: Array.from({ length: 400 }, () => poisoned.answer.suspects[0]!),
        },
      };
      expect(renderMarkdown(many).length).toBeLessThan(65_536);
    }
  });

  it('shows the text itself', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z`*_[\]()<>&|~!.]{1,20}$/), (text) => {
        const page = render(`x${toInline(text)}x`);
        const shown = decode(page.replace(/<[^>]+>/g, '')).trim();
        expect(shown).toBe(`x${text.replace(/(?<!`)`([^`]+)`(?!`)/g, '$1')}x`);
      }),
    );
  });

  it('is quoted literally, with code and fences', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z`<>&]{1,20}$/), (text) => {
        expect(decode(render(toCodeSpan(text)).replace(/<[^>]+>/g, ''))).toBe(text.replaceAll('<!--', ''));
        expect(decode(render(fence([`1  ${text}`])).replace(/<[^>]+>/g, ''))).toBe(`1  ${text}\n`);
      }),
    );
  });

  it('is escaped at the beginning of a line', () => {
    expect(toProse('- a\n1. b\n=== \n/close\n# c')).toBe('\\- a\\\n1\\. b\\\n\\===\\\n\\/close\\\n#\u200b c');
    expect(toHtml('`<b>` & "x"')).toBe('<code>&lt;b&gt;</code> &amp; &quot;x&quot;');
  });
});

describe('T39: hostile text in a terminal', () => {
  it('prints no control characters, and no line that is too wide', () => {
    fc.assert(
      fc.property(hostileAnalysis, fc.integer({ min: 40, max: 120 }), (analysis, width) => {
        const lines = renderTerminal(analysis, { color: false, width }).split('\n');
        for (const line of lines) {
          expect(line).not.toMatch(UNSEEN);
          expect(Array.from(line).length).toBeLessThanOrEqual(width);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('is colored only with our own sequences', () => {
    fc.assert(
      fc.property(hostileAnalysis, (analysis) => {
        const text = renderTerminal(analysis, { color: true, width: 80 });
        expect(text.replace(/\u001b\[\d{1,2}m/g, '').replaceAll('\n', '')).not.toMatch(UNSEEN);
      }),
    );
  });

  it('keeps plain lines as key, tab and value', () => {
    fc.assert(
      fc.property(hostileAnalysis, (analysis) => {
        for (const line of renderPlain(analysis).trimEnd().split('\n')) {
          expect(line).toMatch(/^[A-Z][a-z]+\t/);
          expect(line.replace('\t', '')).not.toMatch(UNSEEN);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('gives no command to a CI runner except our own', () => {
    fc.assert(
      fc.property(hostileAnalysis, (analysis) => {
        for (const text of [renderPlain(analysis), renderTerminal(analysis, { color: false, width: 60 })]) {
          expect(text).not.toMatch(/^\s*::/m);
          expect(text).not.toMatch(/##\w*\[/);
        }
        for (const line of renderGithubCommands(analysis).trimEnd().split('\n')) {
          expect(line).toMatch(/^::(error|warning) file=[^:,]*,line=3,title=[^:,]*::/);
          expect(line).not.toMatch(UNSEEN);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

function decode(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('\u200b', '');
}
