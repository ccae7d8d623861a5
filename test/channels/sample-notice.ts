import type { NoticeCall } from '../../src/channels/channel.ts';
import type { NoticeAbout } from '../../src/domain/notice.ts';
import { callTo } from './sending.ts';

function createNotice(about: NoticeAbout, change: Partial<NoticeCall>): NoticeCall {
  return callTo({ repository: 'shop/api', about }, change);
}

export function pullRequestNotice(change: Partial<NoticeCall> = {}): NoticeCall {
  const about = { type: 'pull-request', repository: 'shop/api', pullRequest: 1204 } as const;
  return createNotice(about, { key: 'github-comment:shop/api#1204', ...change });
}

export function buildNotice(change: Partial<NoticeCall> = {}): NoticeCall {
  return createNotice({ type: 'build', buildId: 'bld_1' }, { key: 'github-check:bld_1', ...change });
}

export function commitNotice(commit: string): NoticeCall {
  const about = { type: 'commit', repository: 'shop/api', commit } as const;
  return createNotice(about, { key: `github-status:shop/api@${commit}` });
}
