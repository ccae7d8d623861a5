import { z } from 'zod';
import { apiAddress, credential, setting, webhookSecrets } from '../../config/variable.ts';

/** CircleCI: what it sends, and where the output of steps is read. */
export const CircleciSettings = z.object({
  webhookSecrets: webhookSecrets(
    'FAULTLINE_CIRCLECI_WEBHOOK_SECRET',
    'Secret token of the CircleCI webhook. Two, separated by a comma, during rotation.',
  ),
  baseUrl: setting(
    'FAULTLINE_CIRCLECI_URL',
    apiAddress((text) => text.replace(/(?:\/api)?\/?$/, '/api')).default('https://circleci.com/api'),
    'URL of CircleCI, or of CircleCI server.',
  ),
  token: credential('FAULTLINE_CIRCLECI_TOKEN', 'Personal API token of a user who may see the projects.'),
});
export type CircleciSettings = z.infer<typeof CircleciSettings>;
