import type { NoticeChannel, NoticeRule, NotificationClient } from '../ports/notices.ts';
import { noticeChannel } from '../publish/notices/notice-channel.ts';
import { noticeLinks } from '../publish/notices/notice-links.ts';
import { type CheckContent, renderCheck } from '../publish/notices/render-check.ts';
import { renderComment } from '../publish/notices/render-comment.ts';
import { renderStatus, type StatusContent } from '../publish/notices/render-status.ts';

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
