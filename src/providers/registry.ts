import { z } from 'zod';
import { AzureSettings, azureProvider } from './azure/provider.ts';
import { BuildkiteSettings, buildkiteProvider } from './buildkite/provider.ts';
import { CircleciSettings, circleciProvider } from './circleci/provider.ts';
import { GiteaSettings, giteaProvider } from './gitea/provider.ts';
import { GithubSettings, githubProvider } from './github/provider.ts';
import { GitlabSettings, gitlabProvider } from './gitlab/provider.ts';
import { JenkinsSettings, jenkinsProvider } from './jenkins/provider.ts';
import type { Provider } from './provider.ts';

/** Returns every CI system and code host, with its settings. */
export function createProviders(config: ProvidersConfig): readonly Provider[] {
  return [
    githubProvider(config.github),
    giteaProvider(config.gitea),
    gitlabProvider(config.gitlab),
    jenkinsProvider(config.jenkins),
    buildkiteProvider(config.buildkite),
    circleciProvider(config.circleci),
    azureProvider(config.azure),
  ];
}

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

/**
 * The configuration without secrets and credentials: no delivery is accepted, and nothing is read with
 * credentials.
 */
export const NO_PROVIDERS: ProvidersConfig = ProvidersConfig.parse({});
