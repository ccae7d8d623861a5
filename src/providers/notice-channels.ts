import { type NoticeLinks, noticeLinks } from '../notifications/notice-words.ts';
import { noticeChannel } from '../notifications/notices.ts';
import { renderCheck } from '../notifications/render-check.ts';
import { renderComment } from '../notifications/render-comment.ts';
import { renderStatus } from '../notifications/render-status.ts';
import type { NoticeChannel, NoticeRule, NotificationClient, Situation } from '../ports/notices.ts';
import { renderSuggestions } from './suggestions.ts';

/** The comment on a pull request, in Markdown. */
export const commentChannel = createChannel(renderComment);
/** The status of a commit, in one line. */
export const statusChannel = createChannel(renderStatus);
/** Changes that were tried and fix what failed, as suggestions in a pull request. */
export const suggestionChannel = createChannel(renderSuggestions);
/** The check run of a build. */
export const checkChannel = createChannel(renderCheck);

function createChannel<Content extends object>(
  render: (situation: Situation, links: NoticeLinks) => Content | null,
) {
  return (rule: NoticeRule, client: NotificationClient<Content>, publicUrl: string | null): NoticeChannel => {
    const links = noticeLinks(publicUrl);
    return noticeChannel({ rule, render: (situation) => render(situation, links), client });
  };
}
