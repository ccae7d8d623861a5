import type { Variable } from './variable.ts';

/** Who is told, and who is kept informed. All of it is off unless it is asked for: nobody wants to find a stranger writing on a pull request. */
export const PUBLISH_VARIABLES: readonly Variable[] = [
  {
    name: 'FAULTLINE_PUBLISH_WEBHOOK_URL',
    path: 'publishers.webhook.url',
    type: 'text',
    meaning: 'Address that sure answers are posted to, signed as Standard Webhooks says; it may be private.',
  },
  {
    name: 'FAULTLINE_PUBLISH_WEBHOOK_SECRET',
    path: 'publishers.webhook.secrets',
    type: 'list',
    secret: true,
    meaning: 'Secret that signs them, as whsec_ and base64; two, separated by a comma, while one is rotated.',
  },
  {
    name: 'FAULTLINE_PUBLISH_WEBHOOK_FORMAT',
    path: 'publishers.webhook.format',
    type: 'text',
    meaning: 'How they are worded: standard (Standard Webhooks) or cloudevents (CloudEvents 1.0 in structured mode).',
  },
  {
    name: 'FAULTLINE_PUBLISH_TIMEOUT_MS',
    path: 'publishers.timeoutMs',
    type: 'number',
    meaning: 'Time limit of one call to whoever is told, in milliseconds.',
  },
  {
    name: 'FAULTLINE_GITHUB_COMMENT',
    path: 'publishers.github.comment',
    type: 'flag',
    meaning:
      'Set to true: one comment on each pull request of which a build has failed, kept in step with what is known. The token or the App must be allowed to write pull requests.',
  },
  {
    name: 'FAULTLINE_GITHUB_COMMENT_MODE',
    path: 'publishers.github.commentMode',
    type: 'text',
    meaning:
      'How the comment changes. With edit it stays in place, of which GitHub notifies nobody; with recreate it is deleted and made anew.',
  },
  {
    name: 'FAULTLINE_GITHUB_CHECK',
    path: 'publishers.github.check',
    type: 'flag',
    meaning:
      'Set to true: a check run named Faultline for each failed build, always neutral, with remarks in the files of its pull request. Only a GitHub App that may write checks can do that.',
  },
  {
    name: 'FAULTLINE_GITHUB_STATUS',
    path: 'publishers.github.status',
    type: 'flag',
    meaning:
      'Set to true: a commit status for each commit of which a build has failed. The token or the App must be allowed to write commit statuses.',
  },
  {
    name: 'FAULTLINE_NOTICE_PAUSE_MS',
    path: 'publishers.pauseMs',
    type: 'number',
    meaning: 'Between two edits of one comment, check, status, message or description, in milliseconds.',
  },
];
