import { z } from 'zod';
import { GITEA_VARIABLES, GiteaSettings } from './gitea/settings.ts';
import { GITHUB_VARIABLES, GithubSettings } from './github/settings.ts';
import { JENKINS_VARIABLES, JenkinsSettings } from './jenkins/settings.ts';

/** The settings of each provider. */
export const ProvidersConfig = z.object({
  github: GithubSettings.prefault({}),
  gitea: GiteaSettings.prefault({}),
  jenkins: JenkinsSettings.prefault({}),
});
export type ProvidersConfig = z.infer<typeof ProvidersConfig>;

export const PROVIDER_VARIABLES = [...GITHUB_VARIABLES, ...GITEA_VARIABLES, ...JENKINS_VARIABLES];

/** Which of them hold code. */
export const CODE_HOSTS = ['github', 'gitea'] as const satisfies readonly (keyof ProvidersConfig)[];

/** Nothing sent to us is believed yet, and nothing is read with credentials. */
export const NO_PROVIDERS: ProvidersConfig = ProvidersConfig.parse({});
