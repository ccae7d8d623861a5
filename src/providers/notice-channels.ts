import { noticeLinks } from '../notifications/notice-words.ts';
import { noticeChannel } from '../notifications/notices.ts';
import { type CheckContent, renderCheck } from '../notifications/render-check.ts';
import { renderComment } from '../notifications/render-comment.ts';
import { renderStatus, type StatusContent } from '../notifications/render-status.ts';
import type { NoticeChannel, NoticeRule, NotificationClient } from '../ports/notices.ts';

/** The comment on a pull request, in Markdown. */
export function commentChannel(
  rule: NoticeRule,
  door: NotificationClient<{ readonly body: string }>,
  publicUrl: string | null,
): NoticeChannel {
  const links = noticeLinks(publicUrl);
  return noticeChannel({ rule, render: (situation) => renderComment(situation, links), door });
}

/** The status of a commit, in one line. */
export function statusChannel(rule: NoticeRule, door: NotificationClient<StatusContent>, publicUrl: string | null): NoticeChannel {
  const links = noticeLinks(publicUrl);
  return noticeChannel({ rule, render: (situation) => renderStatus(situation, links), door });
}

/** The check run of a build. */
export function checkChannel(rule: NoticeRule, door: NotificationClient<CheckContent>, publicUrl: string | null): NoticeChannel {
  const links = noticeLinks(publicUrl);
  return noticeChannel({ rule, render: (situation) => renderCheck(situation, links), door });
}
