import { z } from 'zod';
import { setting } from '../../config/variable.ts';

/** Jenkins: what it sends, where consoles are read, and whether builds are described there. */
export const JenkinsSettings = z.object({
  webhookSecrets: setting(
    'FAULTLINE_JENKINS_WEBHOOK_SECRET',
    z.array(z.string().min(8)).default([]),
    'Jenkins webhook secret or token. Two, separated by a comma, during rotation.',
    { secret: true },
  ),
  /** Builds elsewhere are never fetched and never spoken of. Null: none are. */
  baseUrl: setting('FAULTLINE_JENKINS_URL', z.url().nullable().default(null), 'Base URL of Jenkins. Builds elsewhere are not fetched.'),
  user: setting('FAULTLINE_JENKINS_USER', z.string().nullable().default(null), 'User of the Jenkins API token.'),
  /** An API token of that user; it needs no crumb. */
  token: setting('FAULTLINE_JENKINS_TOKEN', z.string().nullable().default(null), 'Jenkins API token.', { secret: true }),
  /** Written with that token, whose user then needs the right Run/Update. */
  description: setting(
    'FAULTLINE_JENKINS_DESCRIPTION',
    z.enum(['off', 'html', 'text']).default('off'),
    "Whether to write answers to the description of Jenkins builds: off, html (if the Jenkins markup formatter is Safe HTML) or text. The API token's user needs the permission Run/Update.",
  ),
});
export type JenkinsSettings = z.infer<typeof JenkinsSettings>;
