import { z } from 'zod';
import { apiAddress, credential, setting, webhookSecrets } from '../../config/variable.ts';

/** Azure Pipelines: what it sends, and where logs are read. */
export const AzureSettings = z.object({
  webhookSecrets: webhookSecrets(
    'FAULTLINE_AZURE_WEBHOOK_SECRET',
    'Password of the Azure DevOps service hook, or the value of its header X-Faultline-Token. Two, separated by a comma, during rotation.',
  ),
  /** Null: nothing is asked. */
  baseUrl: setting(
    'FAULTLINE_AZURE_URL',
    apiAddress((text) => text.replace(/\/$/, ''))
      .nullable()
      .default(null),
    'URL of the Azure DevOps organization, such as https://dev.azure.com/acme, or of a collection of Azure DevOps Server.',
  ),
  token: credential('FAULTLINE_AZURE_TOKEN', 'Personal access token with the scope Build (Read).'),
});
export type AzureSettings = z.infer<typeof AzureSettings>;

/** A personal access token is a password without a user. */
export function basicOf(token: string): string {
  return `Basic ${Buffer.from(`:${token}`).toString('base64')}`;
}
