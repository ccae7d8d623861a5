import type { Notice } from '../../../src/domain/notice.ts';

const FRESH = {
  repository: 'shop/api',
  wanted: 1,
  shown: 0,
  lease: 1,
  attempts: 1,
  retries: 0,
  reference: null,
  hash: null,
  error: null,
} as const;

export function pullRequestNotice(change: Partial<Notice> = {}): Notice {
  const about = { type: 'pull-request', repository: 'shop/api', pullRequest: 1204 } as const;
  return { ...FRESH, key: 'github-comment:shop/api#1204', channel: 'github-comment', about, ...change };
}

export function buildNotice(change: Partial<Notice> = {}): Notice {
  return { ...FRESH, key: 'github-check:bld_1', channel: 'github-check', about: { type: 'build', buildId: 'bld_1' }, ...change };
}

export function commitNotice(commit: string): Notice {
  const about = { type: 'commit', repository: 'shop/api', commit } as const;
  return { ...FRESH, key: `github-status:shop/api@${commit}`, channel: 'github-status', about };
}
