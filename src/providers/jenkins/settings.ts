import { z } from 'zod';
import { credential, setting, webhookSecrets } from '../../config/variable.ts';

/** Jenkins: what it sends, where consoles are read, and whether builds are described there. */
export const JenkinsSettings = z.object({
  webhookSecrets: webhookSecrets(
    'FAULTLINE_JENKINS_WEBHOOK_SECRET',
    'Jenkins webhook secret or token. Two, separated by a comma, during rotation.',
  ),
  /** Builds elsewhere are never fetched and never spoken of. Null: none are. */
  baseUrl: setting('FAULTLINE_JENKINS_URL', z.url().nullable().default(null), 'Base URL of Jenkins. Builds elsewhere are not fetched.'),
  user: setting('FAULTLINE_JENKINS_USER', z.string().nullable().default(null), 'User of the Jenkins API token.'),
  /** An API token of that user; it needs no crumb. */
  token: credential('FAULTLINE_JENKINS_TOKEN', 'Jenkins API token.'),
  /** Written with that token, whose user then needs the right Run/Update. */
  description: setting(
    'FAULTLINE_JENKINS_DESCRIPTION',
    z.enum(['off', 'html', 'text']).default('off'),
    "Whether to write answers to the description of Jenkins builds: off, html (if the Jenkins markup formatter is Safe HTML) or text. The API token's user needs the permission Run/Update.",
  ),
});
export type JenkinsSettings = z.infer<typeof JenkinsSettings>;
