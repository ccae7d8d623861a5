import { type Analysis, isJudged } from '../domain/analysis.ts';
import { maxOf } from '../lib/lists.ts';
import { asSentence } from '../lib/text.ts';
import {
  confirmation,
  failureCount,
  formOf,
  otherEvidence,
  percent,
  proofLines,
  recordOf,
  sinceGreen,
  usageParts,
} from './answer-facts.ts';
import { codeSpan, fence, html, inline, prose } from './markdown-text.ts';
import { clip } from './visible-text.ts';

const MAX_PROSE = 3000;
const MAX_TITLE = 200;
const MAX_LIST = 5;

/**
 * One analysis as GitHub-flavoured Markdown: a headline, the cause with its fix and proof, and what it cost. Everything from
 * logs, models and people is neutralised: no mention, link, image, HTML or comment marker survives, no fence can be left.
 * At most about 25,000 characters.
 */
export function renderMarkdown(analysis: Analysis): string {
  const blocks = formOf(analysis) === 'unsure' ? unsure(analysis) : answered(analysis);
  return `${[...blocks, footer(analysis)].join('\n\n')}\n`;
}

function answered(analysis: Analysis): string[] {
  const { answer } = analysis;
  const confirmed = confirmation(analysis);
  const standing = confirmed === null ? `${percent(analysis.verdict.confidence)} sure` : `known cause, ${html(confirmed)}`;
  const title = html(clip(answer.title, MAX_TITLE));
  return [
    `<details open><summary><b>${title}</b>: ${analysis.category} · ${analysis.kind}, ${failureCount(analysis)}, ${standing}</summary>`,
    prose(clip(answer.rootCause, MAX_PROSE)),
    `**Fix:** ${inline(clip(answer.fixRecommendation, MAX_PROSE))}`,
    ...proof(analysis),
    '</details>',
  ].filter((block) => block !== '');
}

function unsure(analysis: Analysis): string[] {
  const { answer, verdict } = analysis;
  const hypotheses = answer.hypotheses.slice(0, MAX_LIST);
  const fits = hypotheses.length > 1 ? `${hypotheses.length} explanations fit` : clip(answer.title, MAX_TITLE);
  const guess = isJudged(analysis) ? `: best guess ${analysis.category} · ${analysis.kind}` : '';
  const question = isJudged(analysis)
    ? `Faultline is not sure why (${percent(verdict.confidence)}). The answer needs review.`
    : 'Faultline could not analyze it. It needs review.';
  return [
    `**${failureCount(analysis)}. ${question}**`,
    `<details open><summary><b>${html(fits)}</b>${guess}</summary>`,
    prose(clip(answer.rootCause, MAX_PROSE)),
    hypotheses
      .map(({ category, text, settledBy }, index) => {
        const settled = settledBy === '' ? '' : ` To confirm: ${inline(clip(settledBy, 500))}`;
        return `${index + 1}. ${category}: ${inline(clip(asSentence(text), 1000))}${settled}`;
      })
      .join('\n'),
    answer.fixRecommendation === '' ? '' : `**Try:** ${inline(clip(answer.fixRecommendation, MAX_PROSE))}`,
    ...proof(analysis),
    verdict.reasons.length === 0
      ? ''
      : `Needs review because: ${verdict.reasons
          .slice(0, MAX_LIST)
          .map((reason) => inline(clip(reason, 300)))
          .join('; ')}`,
    '</details>',
  ].filter((block) => block !== '');
}

function proof(analysis: Analysis): string[] {
  const lines = proofLines(analysis);
  const sources = [...new Set(lines.map(({ source }) => source))];
  const width = maxOf(
    lines.map(({ line }) => `${line}`.length),
    0,
  );
  const fences = sources.flatMap((source) => {
    const shown = lines.filter((line) => line.source === source).map(({ line, text }) => `${`${line}`.padStart(width)}  ${text}`);
    return [...(sources.length > 1 ? [codeSpan(clip(source, MAX_TITLE))] : []), fence(shown)];
  });
  const suspects = analysis.answer.suspects.slice(0, MAX_LIST).map(({ path, line, commit, author }) => {
    const by = [commit?.slice(0, 7), author].flatMap((part) => (part ? [inline(clip(part, 100))] : []));
    return `${codeSpan(clip(line === null ? path : `${path}:${line}`, MAX_TITLE))}${by.length === 0 ? '' : ` (${by.join(', ')})`}`;
  });
  const others = otherEvidence(analysis).map(({ source, title }) => `${inline(clip(source, 100))}: ${inline(clip(title, MAX_TITLE))}`);
  const since = sinceGreen(analysis);
  return [
    ...fences,
    since === null ? '' : inline(`New ${since}`),
    suspects.length === 0 ? '' : `Suspect ${suspects.join(' · ')}`,
    others.length === 0 ? '' : `See also ${others.join(' · ')}`,
  ];
}

/** `<sub>` stands inside a paragraph, so Markdown is read in it. */
function footer(analysis: Analysis): string {
  const notes = analysis.notes.slice(0, MAX_LIST).map((note) => clip(note, 300));
  const record = recordOf(analysis);
  return `<sub>${[...notes, ...(record === null ? [] : [record]), ...usageParts(analysis), analysis.id].map(inline).join(' · ')}</sub>`;
}
