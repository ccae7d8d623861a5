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
    name: 'FAULTLINE_NOTICE_PAUSE_MS',
    path: 'publishers.pauseMs',
    type: 'number',
    meaning: 'Minimum time between two edits of one comment, check, status, message or description, in milliseconds.',
  },
];
