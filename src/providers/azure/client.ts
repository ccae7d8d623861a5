import { TriageError } from '../../domain/errors.ts';
import { createRestClient, type RestClient } from '../rest-client.ts';
import { basicOf } from './settings.ts';

export interface AzureOptions {
  /** Of the organization. Null: nothing is asked. */
  readonly baseUrl: string | null;
  readonly token: string | null;
}

/** Sent with each question. */
export const API = { 'api-version': '7.0' };

/** Throws `invalid-config` without an address. */
export function createAzureClient({ baseUrl, token }: AzureOptions, timeoutMs: number): RestClient {
  if (baseUrl === null) throw new TriageError('invalid-config', 'Cannot ask Azure Pipelines for builds: FAULTLINE_AZURE_URL is not set.');
  const headers: Record<string, string> = token === null ? {} : { authorization: basicOf(token) };
  return createRestClient({ label: 'Azure Pipelines', baseUrl, headers, tokenSetting: 'FAULTLINE_AZURE_TOKEN', timeoutMs });
}
