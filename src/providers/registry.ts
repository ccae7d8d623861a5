import { azureProvider } from './azure/provider.ts';
import { buildkiteProvider } from './buildkite/provider.ts';
import { circleciProvider } from './circleci/provider.ts';
import { giteaProvider } from './gitea/provider.ts';
import { githubProvider } from './github/provider.ts';
import { gitlabProvider } from './gitlab/provider.ts';
import { jenkinsProvider } from './jenkins/provider.ts';
import type { Provider } from './provider.ts';
import type { ProvidersConfig } from './settings.ts';

/** Every CI system and code host, with its settings. */
export function providersOf(config: ProvidersConfig): readonly Provider[] {
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
