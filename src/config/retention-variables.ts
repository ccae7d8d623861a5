import type { Variable } from './variable.ts';

/** How long what is kept. */
export const RETENTION_VARIABLES: readonly Variable[] = [
  {
    name: 'FAULTLINE_RETENTION_LOGS_DAYS',
    path: 'retention.logsDays',
    type: 'number',
    meaning: 'Days after which the full logs, reports and artifacts of a build are deleted. 0 keeps them forever.',
  },
  {
    name: 'FAULTLINE_RETENTION_BUILDS_DAYS',
    path: 'retention.buildsDays',
    type: 'number',
    meaning: 'Days after which a build is deleted with its analyses, reviews and conversations. 0 keeps it forever.',
  },
  {
    name: 'FAULTLINE_RETENTION_REPOSITORIES',
    path: 'retention.repositories',
    type: 'json',
    meaning: 'Retention days per repository, as JSON {"owner/name": {"logsDays": 7, "buildsDays": 365}} or the path of a JSON file.',
  },
];
