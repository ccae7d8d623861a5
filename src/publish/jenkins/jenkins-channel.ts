import type { NoticeChannel, NotificationClient } from '../../ports/notices.ts';
import { noticeChannel } from '../notices/notice-channel.ts';
import { type DescriptionOptions, type JenkinsDescription, jenkinsDescription, jenkinsRule } from './jenkins-description.ts';

/** The description of each failed Jenkins build, kept in step with what is known of it. */
export function jenkinsChannel(door: NotificationClient<JenkinsDescription>, options: DescriptionOptions): NoticeChannel {
  return noticeChannel({ rule: jenkinsRule, render: (situation) => jenkinsDescription(situation, options), door });
}
