import { azureWorld } from './azure.ts';
import { buildkiteWorld } from './buildkite.ts';
import { circleciWorld } from './circleci.ts';
import { giteaWorld } from './gitea.ts';
import { githubWorld } from './github.ts';
import { gitlabWorld } from './gitlab.ts';
import { jenkinsWorld } from './jenkins.ts';

/** Every provider's world. */
export const WORLDS = [
  githubWorld,
  giteaWorld,
  gitlabWorld,
  jenkinsWorld,
  buildkiteWorld,
  circleciWorld,
  azureWorld,
];
