import type { Variable } from './variable.ts';

/** Who is told, and who is kept informed. All of it is off unless it is asked for: nobody wants to find a stranger writing on a pull request. */
export const PUBLISH_VARIABLES: readonly Variable[] = [
  {
    name: 'FAULTLINE_PUBLISH_WEBHOOK_URL',
    path: 'publishers.webhook.url',
    type: 'text',
    meaning: 'URL to which confident answers are posted, signed per Standard Webhooks. It may be private.',
  },
  {
    name: 'FAULTLINE_PUBLISH_WEBHOOK_SECRET',
    path: 'publishers.webhook.secrets',
    type: 'list',
    secret: true,
    meaning: 'Signing secret, as whsec_ plus base64. Two secrets, separated by a comma, during rotation.',
  },
  {
    name: 'FAULTLINE_PUBLISH_WEBHOOK_FORMAT',
    path: 'publishers.webhook.format',
    type: 'text',
    meaning: 'Format: standard (Standard Webhooks) or cloudevents (CloudEvents 1.0 in structured mode).',
  },
  {
    name: 'FAULTLINE_PUBLISH_TIMEOUT_MS',
    path: 'publishers.timeoutMs',
    type: 'number',
    meaning: 'Time limit of one publishing call, in milliseconds.',
  },
  {
    name: 'FAULTLINE_GITHUB_COMMENT',
    path: 'publishers.github.comment',
    type: 'flag',
    meaning:
      'Set to true to post one comment on each pull request with a failed build and keep it up to date. The token or App needs write access to pull requests.',
  },
  {
    name: 'FAULTLINE_GITHUB_COMMENT_MODE',
    path: 'publishers.github.commentMode',
    type: 'text',
    meaning:
      'How the comment is updated. With edit, it stays in place and GitHub notifies nobody; with recreate, it is deleted and posted again.',
  },
  {
    name: 'FAULTLINE_GITHUB_CHECK',
    path: 'publishers.github.check',
    type: 'flag',
    meaning:
      "Set to true to create a check run named Faultline for each failed build, always neutral, with annotations in the pull request's files. Requires a GitHub App with write access to checks.",
  },
  {
    name: 'FAULTLINE_GITHUB_STATUS',
    path: 'publishers.github.status',
    type: 'flag',
    meaning:
      'Set to true to set a commit status on each commit with a failed build. The token or App needs write access to commit statuses.',
  },
  {
    name: 'FAULTLINE_NOTICE_PAUSE_MS',
    path: 'publishers.pauseMs',
    type: 'number',
    meaning: 'Minimum time between two edits of one comment, check, status, message or description, in milliseconds.',
  },
];
