import { shortenCommit } from '../domain/build.ts';
import { nameCategory } from '../domain/category-words.ts';
import { findMax } from '../lib/collections.ts';
import { toSentence } from '../lib/text.ts';
import { type AnswerFact, formatPlace, type ProofLine } from './answer-view.ts';
import { clip, fence, formatNumber, toCodeSpan, toInline, toProse } from './visible-text.ts';

const MAX_PROSE = 3_000;
const MAX_PLACE = 200;
const MAX_ITEM = 300;
const MAX_LISTED = 5;

/**
 * Formats a fact as one block of GitHub-flavored Markdown, except for small print. `limit` is the maximum
 * number of characters of a paragraph. Everything from logs, models and people is neutralized: no mention,
 * link, image, HTML or comment marker survives, and no text can leave its fence.
 */
export function formatFactBlock(fact: AnswerFact, limit = MAX_PROSE): string {
  const { name, label, values } = fact;
  switch (fact.kind) {
    case 'prose': {
      const text = clip(values.join('\n'), limit);
      return name === 'Cause' ? toProse(text) : `**${label}:** ${toInline(text)}`;
    }
    case 'lines':
      return fenceLogs(fact.lines);
    case 'choices': {
      const choices = fact.choices.slice(0, MAX_LISTED).map(({ category, text, settledBy }, index) => {
        const settled = settledBy === '' ? '' : ` To confirm: ${toInline(clip(settledBy, MAX_ITEM))}`;
        const words = toInline(clip(toSentence(text), 2 * MAX_ITEM));
        return `${index + 1}. ${nameCategory(category)}: ${words}${settled}`;
      });
      return `**${label}:**\n\n${choices.join('\n')}`;
    }
    case 'tests': {
      const tests = fact.tests.map((test) => toCodeSpan(clip(test, MAX_PLACE)));
      return `**${label}:** ${tests.join(' · ')}${fact.more === 0 ? '' : ` and ${formatNumber(fact.more)} more`}`;
    }
    case 'files': {
      const files = fact.files.slice(0, MAX_LISTED).map((file) => {
        const by = [file.commit && shortenCommit(file.commit), file.author].flatMap((part) =>
          part ? [toInline(clip(part, 100))] : [],
        );
        return `${toCodeSpan(clip(formatPlace(file), MAX_PLACE))}${by.length === 0 ? '' : ` (${by.join(', ')})`}`;
      });
      return `**${label}:** ${files.join(' · ')}`;
    }
    default:
      return `**${label}:** ${formatSmallPrint(fact).join(' · ')}`;
  }
}

/** Returns the entries of a fact, each on one line and neutralized. */
export function formatSmallPrint({ values }: AnswerFact): string[] {
  return values.slice(0, MAX_LISTED).map((value) => toInline(clip(value, MAX_ITEM)));
}

/** Puts the lines of each log into a fence. If there are several logs, each is named. */
function fenceLogs(lines: readonly ProofLine[]): string {
  const sources = [...new Set(lines.map(({ source }) => source))];
  const width = findMax(
    lines.map(({ line }) => `${line}`.length),
    0,
  );
  const blocks = sources.map((source) => {
    const visibleLines = lines
      .filter((line) => line.source === source)
      .map(({ line, text }) => `${`${line}`.padStart(width)}  ${text}`);
    return `${sources.length > 1 ? `${toCodeSpan(clip(source, MAX_PLACE))}\n\n` : ''}${fence(visibleLines)}`;
  });
  return blocks.join('\n\n');
}
