import { createHash } from 'node:crypto';
import type { NoticeChannel, NoticeRule, NotificationClient, Situation } from '../ports/notices.ts';

export interface NoticeChannelParts<Content extends object> {
  readonly rule: NoticeRule;
  /** Pure. Null: there is nothing to say. Only strings, numbers, booleans, arrays and plain objects, so that equal contents have equal hashes. */
  readonly render: (situation: Situation) => Content | null;
  readonly door: NotificationClient<Content>;
}

/** One channel of its three parts: where it posts, what it says, and the client it posts with. */
export function noticeChannel<Content extends object>({ rule, render, door }: NoticeChannelParts<Content>): NoticeChannel {
  const { find } = door;
  return {
    channel: rule.channel,
    placeOf: (build, known) => rule.placeOf(build, known),
    prepare: (situation) => {
      const content = render(situation);
      return content === null ? null : { hash: hashOf(content), show: (call) => door.show(content, call) };
    },
    ...(find === undefined ? {} : { find: (call) => find(call) }),
  };
}

function hashOf(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
