import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderEmail } from '../../src/channels/email.ts';
import type { News } from '../../src/channels/news.ts';
import { toSlackNews } from '../../src/channels/slack.ts';
import { createTeamsMessage } from '../../src/channels/teams.ts';
import { hostile } from '../support/hostile-text.ts';
import { sampleAnalysis, sampleBuild } from '../support/sample-analysis.ts';

const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** A message in which everything that others write is hostile. */
const poisoned = fc
  .array(fc.oneof(hostile, fc.constantFrom('<!channel>', '<@U0000000001>', '<at>ada</at>', '@here')), {
    minLength: 8,
    maxLength: 8,
  })
  .map((texts): News => {
    const text = (index: number) => texts[index % texts.length] ?? '';
    const item = {
      state: null,
      title: text(0),
      standing: text(1),
      place: text(2),
      facts: [
        { label: 'Cause', text: text(3) },
        { label: 'Fix', text: text(4) },
      ],
      seen: 2,
      links: { answer: 'https://fl.example/analyses/ana_1', build: 'https://ci.example/1?a="><b>&c' },
      build: sampleBuild(),
      analysis: sampleAnalysis(),
    };
    return {
      rule: { id: 'ntr_1', name: text(5) },
      headline: text(6),
      isTest: true,
      items: [item, { ...item, title: text(7) }],
      more: 3,
      mentions: [],
    };
  });

describe('69: hostile text in notifications', () => {
  it('mentions nobody in Slack, and contains no links or markup', () => {
    fc.assert(
      fc.property(poisoned, (news) => {
        const { text, blocks } = toSlackNews(news);
        for (const one of [text, ...blocks.flatMap((block) => ('text' in block ? [block.text] : []))]) {
          expect(one).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
          expect(one.replaceAll('\n', '')).not.toMatch(UNSEEN);
        }
      }),
    );
  });

  it('mentions nobody in Teams, and consists of plain text runs only', () => {
    fc.assert(
      fc.property(poisoned, (news) => {
        const { content } = JSON.parse(createTeamsMessage(news)).attachments[0];
        expect(content.msteams.entities).toEqual([]);
        const types = JSON.stringify(content).match(/"type":"[^"]*"/g);
        expect(types).not.toContain('"type":"TextBlock"');
        for (const [, text = ''] of JSON.stringify(content.body).matchAll(/"text":("(?:[^"\\]|\\.)*")/g)) {
          expect(JSON.parse(text)).not.toMatch(/[<>]|@\w|:\/\/|www\.\w/);
          expect(JSON.parse(text)).not.toMatch(UNSEEN);
        }
      }),
    );
  });

  it('in an e-mail is one line in the subject, text without links, and HTML without elements of its own', () => {
    fc.assert(
      fc.property(poisoned, (news) => {
        const { subject, text, html } = renderEmail(news);
        expect(subject).not.toMatch(UNSEEN);
        expect(text.replaceAll('https://fl.example/analyses/ana_1', '')).not.toMatch(/:\/\/|www\.\w|@\w/i);
        const tags = new Set(
          Array.from(html.matchAll(/<(\/?[a-z!][a-z0-9]*)/gi), ([, tag = '']) =>
            tag.replace('/', '').toLowerCase(),
          ),
        );
        const ours = ['!doctype', 'html', 'head', 'meta', 'body', 'div', 'p', 'strong', 'br', 'a', 'code'];
        expect([...tags].filter((tag) => !ours.includes(tag))).toEqual([]);
        for (const [, address = ''] of html.matchAll(/href="([^"]*)"/g))
          expect([
            'https://fl.example/analyses/ana_1',
            'https://ci.example/1?a=&quot;&gt;&lt;b&gt;&amp;c',
          ]).toContain(address);
      }),
    );
  });
});
