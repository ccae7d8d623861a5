import { z } from 'zod';
import { AzureSettings, createAzureProvider } from './azure/provider.ts';
import { BuildkiteSettings, createBuildkiteProvider } from './buildkite/provider.ts';
import { CircleciSettings, createCircleciProvider } from './circleci/provider.ts';
import { createGiteaProvider, GiteaSettings } from './gitea/provider.ts';
import { createGithubProvider, GithubSettings } from './github/provider.ts';
import { createGitlabProvider, GitlabSettings } from './gitlab/provider.ts';
import { createJenkinsProvider, JenkinsSettings } from './jenkins/provider.ts';
import type { Provider } from './provider.ts';

/** Returns every CI system and code host, with its settings. */
export function createProviders(config: ProvidersConfig): readonly Provider[] {
  return [
    createGithubProvider(config.github),
    createGiteaProvider(config.gitea),
    createGitlabProvider(config.gitlab),
    createJenkinsProvider(config.jenkins),
    createBuildkiteProvider(config.buildkite),
    createCircleciProvider(config.circleci),
    createAzureProvider(config.azure),
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
