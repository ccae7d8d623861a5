import { z } from 'zod';
import { setting } from '../../config/variable.ts';

/** CircleCI: what it sends, and where the output of steps is read. */
export const CircleciSettings = z.object({
  webhookSecrets: setting(
    'FAULTLINE_CIRCLECI_WEBHOOK_SECRET',
    z.array(z.string().min(8)).default([]),
    'Secret token of the CircleCI webhook. Two, separated by a comma, during rotation.',
    { secret: true },
  ),
  baseUrl: setting(
    'FAULTLINE_CIRCLECI_URL',
    z
      .url({ protocol: /^https?$/ })
      .transform((text) => text.replace(/(?:\/api)?\/?$/, '/api'))
      .default('https://circleci.com/api'),
    'URL of CircleCI, or of CircleCI server.',
  ),
  token: setting(
    'FAULTLINE_CIRCLECI_TOKEN',
    z.string().nullable().default(null),
    'Personal API token of a user who may see the projects.',
    {
      secret: true,
    },
  ),
});
export type CircleciSettings = z.infer<typeof CircleciSettings>;
