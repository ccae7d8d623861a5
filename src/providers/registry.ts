import { giteaProvider } from './gitea/provider.ts';
import { githubProvider } from './github/provider.ts';
import { gitlabProvider } from './gitlab/provider.ts';
import { jenkinsProvider } from './jenkins/provider.ts';
import type { Provider } from './provider.ts';
import type { ProvidersConfig } from './settings.ts';

/** Every CI system and code host, with its settings. */
export function providersOf({ github, gitea, gitlab, jenkins }: ProvidersConfig): readonly Provider[] {
  return [githubProvider(github), giteaProvider(gitea), gitlabProvider(gitlab), jenkinsProvider(jenkins)];
}
