import { nameCategory } from '../domain/category-words.ts';
import { cutWithin } from '../lib/text.ts';
import type { Situation } from '../ports/notices.ts';
import { countWords, type NoticeLinks } from './notice-words.ts';
import { formatTitle } from './render-check.ts';
import { toVisibleLine } from './visible-text.ts';
import { decideWhatToSay, type ToSay } from './what-to-say.ts';

/**
 * A commit status. It is a failure while a build of the commit fails, and a success only if all of them pass.
 */
export interface StatusContent {
  readonly state: 'pending' | 'failure' | 'success';
  /** The description, at most 140 characters; longer ones are rejected. */
  readonly description: string;
  readonly targetUrl: string | null;
}

const MAX_DESCRIPTION = 140;

/** Renders the facts about one commit in one line. Returns null while no build has failed. */
export function renderStatus(situation: Situation, links: NoticeLinks): StatusContent | null {
  const toSay = decideWhatToSay(situation);
  const [head] = situation.heads;
  if (toSay === null || head === undefined) return null;
  const isLooking = toSay.state === 'looking' || (toSay.state === 'answered' && toSay.open > 0);
  const line = toVisibleLine(describeStatus(toSay));
  return {
    state: isLooking ? 'pending' : toSay.state === 'fixed' ? 'success' : 'failure',
    description: cutWithin(line, MAX_DESCRIPTION),
    targetUrl: links.build(head.build.id),
  };
}

function describeStatus(toSay: ToSay): string {
  if (toSay.state === 'could-not-look') return `Analysis failed: ${toSay.why}`;
  if (toSay.state !== 'answered') return formatTitle(toSay);
  const [first] = toSay.causes;
  if (toSay.causes.length > 1 || first === undefined)
    return `${countWords(toSay.failures, toSay.areTests)}, ${toSay.causes.length} causes`;
  return first.form === 'unsure'
    ? 'Not sure: needs review'
    : `${nameCategory(first.category)}: ${first.title}`;
}
