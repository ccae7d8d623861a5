import { z } from 'zod';
import { AzureSettings } from './azure/settings.ts';
import { BuildkiteSettings } from './buildkite/settings.ts';
import { CircleciSettings } from './circleci/settings.ts';
import { GiteaSettings } from './gitea/settings.ts';
import { GithubSettings } from './github/settings.ts';
import { GitlabSettings } from './gitlab/settings.ts';
import { JenkinsSettings } from './jenkins/settings.ts';

/** The settings of each provider, with the variables that set them. */
export const ProvidersConfig = z.object({
  github: GithubSettings.prefault({}),
  gitea: GiteaSettings.prefault({}),
  gitlab: GitlabSettings.prefault({}),
  jenkins: JenkinsSettings.prefault({}),
  buildkite: BuildkiteSettings.prefault({}),
  circleci: CircleciSettings.prefault({}),
  azure: AzureSettings.prefault({}),
});
export type ProvidersConfig = z.infer<typeof ProvidersConfig>;

/** Which of them hold code. */
export const CODE_HOSTS = ['github', 'gitea', 'gitlab'] as const satisfies readonly (keyof ProvidersConfig)[];

/** Nothing sent to us is believed yet, and nothing is read with credentials. */
export const NO_PROVIDERS: ProvidersConfig = ProvidersConfig.parse({});
