import type { Notice } from '../../../src/domain/notice.ts';

const FRESH = { repository: 'shop/api', reference: null, isRetry: false } as const;

export function pullRequestNotice(change: Partial<Notice> = {}): Notice {
  const about = { type: 'pull-request', repository: 'shop/api', pullRequest: 1204 } as const;
  return { ...FRESH, key: 'github-comment:shop/api#1204', about, ...change };
}

export function buildNotice(change: Partial<Notice> = {}): Notice {
  return { ...FRESH, key: 'github-check:bld_1', about: { type: 'build', buildId: 'bld_1' }, ...change };
}

export function commitNotice(commit: string): Notice {
  const about = { type: 'commit', repository: 'shop/api', commit } as const;
  return { ...FRESH, key: `github-status:shop/api@${commit}`, about };
}
