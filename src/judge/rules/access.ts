import { defineRules, type RuleRow } from '../rule.ts';

/**
 * Names of operations on a file, as system calls and common tools print them. Running a program is excluded.
 */
const REFUSED_OPERATION =
  /\b(?:mkdir|rmdir|open|creat|chown|chmod|chdir|l?stat|unlink|remove|rename|sym?link|access|connect|dial|bind|listen|touch|tee|ln|cp|mv|rm|(?:cannot|can't|could not|unable to|failed to) (?!exec|run|start)\w+)\b[^:\n]{0,240}: (?:[^:\n]{0,80}: )?[Pp]ermission denied$/;

/** Rules for requests that were refused because of a missing permission, secret or login. */
export const ACCESS_RULES: readonly RuleRow[] = defineRules('CONFIG_ERROR', {
  'not-executable': {
    kind: 'permission_or_secret',
    strength: 4.6,
    patterns: [
      /\b[\w./-]{1,240}: [Pp]ermission denied$/,
      /exit (?:code|status) 126\b/,
      /(?:\.sh|\.py|gradlew|mvnw)['"]?:? [Pp]ermission denied/,
      /CreateProcess error=5/,
    ],
    when: (fact) => !REFUSED_OPERATION.test(fact.text),
    reads: [/(?<script>[\w./-]{2,200}): [Pp]ermission denied/],
    title: '{script} is not executable',
    cause: 'The shell cannot run {script} because the file was committed without the executable bit.',
    fix: [['code', 'Make {script} executable (`chmod +x {script}`) and commit the change.']],
    matches: ['./ci/weigh.sh: line 4: ./scales: Permission denied'],
    ignores: ['✓ answers with Permission denied', 'mkdir /var/lib/scales: permission denied'],
  },
  'publish-refused': {
    kind: 'permission_or_secret',
    strength: 5.2,
    patterns: [
      /\b(?:Forbidden|Not Found|Unprocessable Entity|Bad Request) - PUT https?:\/\//,
      /ERR_PNPM_\w{1,40}.{0,80}\bPUT https?:\/\/\S{1,200}: .{0,60}- 40[34]/,
    ],
    reads: [
      /\bE?(?<code>40[034]|422):? [\w ]{1,40} - PUT https?:\/\/(?<registry>[^/\s]{1,100})\/(?<published>\S{1,120})/,
    ],
    title: '{registry} refused to publish {published} ({code})',
    cause:
      '{registry} returned {code} when the job tried to publish {published}. A registry does so when the ' +
      'token is not allowed to publish under that name.',
    fix: [
      [
        'ask',
        'Check that the token is allowed to publish {published} on {registry}, and that its scope or ' +
          'owner exists there.',
      ],
    ],
    outranks: ['npm-version-missing', 'registry-has-no-version', 'download-failed', 'path-missing'],
    matches: ['npm error 404 Not Found - PUT https://registry.orchard.example/@fruit%2fpear - Not found'],
    ignores: [
      'npm error 404 Not Found - GET https://registry.orchard.example/@fruit%2fpear - Not found',
      'npm http fetch PUT 200 https://registry.orchard.example/pear',
    ],
    says: [
      {
        log: [
          'npm error code E404',
          'npm error 404 Not Found - PUT https://registry.orchard.example/@fruit%2fpear - Not found',
          "npm error 404  '@fruit/pear@1.4.0' is not in this registry.",
        ].join('\n'),
        fix:
          'Check that the token is allowed to publish @fruit/pear on registry.orchard.example, and that ' +
          'its scope or owner exists there.',
      },
    ],
  },
  'file-permission': {
    kind: 'permission_or_secret',
    strength: 3.4,
    patterns: [
      /\b(?:EACCES|EPERM)\b|[Pp]ermission denied|[Oo]peration not permitted/,
      /AccessDeniedException|not writable/,
      /Access (?:to the path )?.{0,120}is denied/,
    ],
    when: (fact) => !/Warning: /.test(fact.text),
    reads: [
      /\b(?:mkdir|open|unlink|rename|rmdir|copyfile|scandir|access|symlink|chmod|opendir) '(?<target>[^'\n]{1,200})'/,
      /(?:[Pp]ermission denied|not permitted): '(?<target>[^'\n]{1,200})'/,
      /['"‘](?<target>\/[^'"’\n]{1,200})['"’]: (?:[Pp]ermission denied|[Oo]peration not permitted)/,
      /(?:^|\s)(?<target>\/[\w.@+/-]{2,200}): (?:[Pp]ermission denied|[Oo]peration not permitted)/,
      /AccessDeniedException: (?<target>\/[\w.@+/-]{2,200})/,
    ],
    title: 'No permission to access {target}',
    cause: [
      '`{command}` does not have permission to access {target}.',
      'The step does not have permission to access {target}.',
    ],
    fix: [['configuration', 'Give this step write access to {target}, or use a folder that it owns.']],
    matches: ["Error: EACCES: permission denied, mkdir '/srv/scales'"],
    ignores: [
      "find: warning: ignoring '/root': Permission denied",
      'CacheWarning: /srv/cache: Permission denied',
      '✓ fails where the folder is not writable',
    ],
    says: [
      {
        log: "Error: EACCES: permission denied, mkdir '/srv/scales'",
        fix: 'Give this step write access to /srv/scales, or use a folder that it owns.',
      },
    ],
  },
  'secret-missing': {
    kind: 'permission_or_secret',
    strength: 4.8,
    patterns: [
      /\b[A-Z][A-Z0-9_]{2,60}(?:TOKEN|SECRET|KEY|PASSWORD|CREDENTIALS?|PASS|PAT)[A-Z0-9_]{0,30}\b[^\n]{0,60}(?:is not set|not set|is (?:required|missing|empty|undefined|unset)|must be (?:set|provided)|is not defined|environment variable is required|not provided|not found)/,
      /Input required and not supplied: /,
      /Parameter token or \S{1,40} is required/,
      /secrets?\.\w{1,60} (?:is )?(?:empty|missing|not)/,
    ],
    reads: [
      /\b(?<secret>[A-Z][A-Z0-9_]{2,60}(?:TOKEN|SECRET|KEY|PASSWORD|CREDENTIALS?|PASS|PAT)[A-Z0-9_]{0,30})\b/,
      /Input required and not supplied: (?<input>[\w-]{1,60})/,
      /^(?:\.\/)?(?<script>[\w-][\w./-]{0,200}\.\w{1,6}): (?:line )?\d{1,6}: /,
    ],
    title: ['The secret {secret} is not set', 'The action input {input} is empty'],
    cause: [
      '{script} needs {secret}, but the job did not set it.',
      'The step needs {secret}, but the job did not set it.',
      'The action requires the input {input}, but the workflow passed no value. A secret that is not set ' +
        'is passed as an empty string.',
    ],
    fix: [
      [
        'ask',
        'Add {secret} to the repository secrets and pass it to the step; jobs triggered by forks and ' +
          'bots do not receive secrets.',
      ],
      [
        'ask',
        'Set the secret or value that the workflow passes as {input}; jobs triggered by forks and bots ' +
          'do not receive secrets.',
      ],
    ],
    matches: ['./ci/pack.sh: line 9: ORCHARD_TOKEN: ORCHARD_TOKEN is not set'],
    ignores: ['ORCHARD_TOKEN: ***', '  --token  the token (ORCHARD_TOKEN)'],
  },
  'credentials-refused': {
    kind: 'permission_or_secret',
    strength: 4.4,
    patterns: [
      /Unable to authenticate|Requires authentication|Authentication (?:failed|required)/i,
      /Bad credentials|Credentials could not be loaded/i,
      /Cannot perform an interactive login from a non TTY device/i,
      /no basic auth credentials|Incorrect or missing password/i,
      /Host key verification failed/i,
      /HTTP Basic: Access denied/i,
      /sudo: a (?:password|terminal) is required/i,
      /Unable to get ACTIONS_ID_TOKEN_REQUEST_URL/i,
      /Could not assume role/i,
      /Signing for ".{1,80}" requires a development team|code signing is required|gpg failed to sign/i,
      /\b(?:E40[13]|ENEEDAUTH|EOTP|NO_PUBKEY|errSecInternalComponent)\b/i,
      /No (?:signing certificate|profiles for)/i,
      /Provisioning profile .{1,120} (?:doesn't|not|has expired)/i,
      /could not read (?:Username|Password)/i,
      /Permission denied \(publickey|Permission to \S{1,120} denied to/i,
      /Resource not accessible by integration/i,
      /denied: (?:requested access|permission_denied|installation)/i,
      /unauthorized: /i,
      /AccessDenied|Access denied for user|pull access denied/i,
      /insufficient[_ ]scope|not authorized to perform/i,
      /\b40[13] (?:Unauthorized|Forbidden)/i,
      /(?:HTTP|returned error:|status(?: code)?:?) 40[13]\b/i,
      /Invalid (?:username|token|API key|credentials)/i,
      /No credentials (?:found|provided|configured|were|available|for)/i,
    ],
    when: (fact) => !/rate limit/i.test(fact.text),
    reads: [
      /\bE(?<code>40[13])\b/,
      /\b(?<npm>E40[13])\b/,
      /^ {2,8}(?<empty>[A-Z][A-Z0-9_]{2,60}(?:TOKEN|KEY|SECRET|PASSWORD)[A-Z0-9_]{0,20}): ?$/,
      /\b(?<code>40[13])\b/,
      /(?<integration>Resource not accessible by integration)/,
      /docs\.github\.com\/(?:[\w@.-]{1,40}\/)?rest\/(?<api>[a-z-]{3,30})\b/,
      /api\.github\.com\/repos\/[\w.-]{1,100}\/[\w.-]{1,100}\/(?<api>[a-z-]{3,30})\b/,
      /Permission to (?<repository>[\w./-]{3,140}?)(?:\.git)? denied to (?<account>[\w-]{1,60}(?:\[bot\])?)/,
      /denied to (?<bot>github-actions\[bot\])/,
      /(?<release>actions\/create-release|action-gh-release|release-action|GitHub release failed|gh release create)/,
      /(?<oidc>ACTIONS_ID_TOKEN_REQUEST_URL|set the `id-token` permission)/,
      /(?<archived>This repository was archived so it is read-only)/,
      /unable to access ['"](?<pushedTo>https?:\/\/[^'"\n]{1,200}?)\/?['"]/,
      /could not read (?:Username|Password) for ['"‘](?<remote>[^'"’\n]{1,200})['"’]/,
      /(?<login>could not read (?:Username|Password) for)/,
      /pull access denied for (?<image>[\w./:-]{2,160}?)[,;:]?(?: |$)/,
      /denied: (?<package>permission_denied: \w{3,30}|installation not allowed to \w{3,20} organization package)/i,
      /(?<noPassword>interactive login from a non TTY)/,
      /(?<publickey>Permission denied \(publickey)/,
      /(?<basic>HTTP Basic: Access denied)/,
      /Authentication failed for ['"](?<remote>https?:\/\/[^'"\n]{1,200})['"]/,
      /(?<sudo>sudo: a (?:password|terminal) is required)/,
      /(?<hostKey>Host key verification failed)/,
      /\b(?<loginNeeded>ENEEDAUTH)\b/,
      /\b(?<password>EOTP)\b/,
    ],
    title: [
      '{account} cannot push to {repository}',
      '{archived?}{pushedTo} is archived and read-only',
      'Access to the image {image} was denied',
      '{basic?}The server rejected the Git credentials of the job',
      '{sudo?}sudo requires a password',
      '{login?}Git has no credentials for {remoteAbove}',
      'Git has no credentials for {remote}',
      "{integration?}The job's token has insufficient permissions",
      '{oidc?}The job has no OIDC token',
      '{noPassword?}docker login was given no password',
      '{publickey?}{host} did not accept an SSH key from the job',
      "{hostKey?}SSH does not know the server's host key",
      '{loginNeeded?}npm is not logged in to the registry that it publishes to',
      '{password?}The registry requires a one-time password',
      '{host} denied access ({code})',
      'Access was denied ({code})',
    ],
    cause: [
      '{basic?}The token or password for {remote} is missing, wrong, or expired.',
      '{basic?}The token or password for the Git server is missing, wrong, or expired.',
      '{sudo?}The step calls sudo, but the user of the job cannot use it without a password.',
      'The job pushed to {repository} as {account}, which does not have write access.',
      'The registry denied access to {image}. It does not exist, or the job is not logged in.',
      '{login?}Git needs a user name and a password for {remoteAbove}, and the step gave it none.',
      'Git needs a user name and a password for {remote}, and the step gave it none.',
      'The registry refused to store the image: “{package}”.',
      '{archived?}The job pushed to {pushedTo}, which is archived and accepts no pushes.',
      "{integration?}The job's token is not allowed to do what `{command}` requests from GitHub.",
      "{integration?}The job's token is not allowed to do what this step requests from GitHub.",
      '{oidc?}The step requests an OIDC token from GitHub, which a job gets only with the permission ' +
        '`id-token: write`.',
      '{noPassword?}docker login was given no password, because the variable or secret that should hold ' +
        'it is empty in this job.',
      '{publickey?}The job did not offer {host} an SSH key that it accepts.',
      '{npm?}The registry rejected the request ({code}) because {empty} is empty in this job.',
      '{host} rejected the request ({code}) because the credentials of this step are missing, expired, ' +
        'or not authorized.',
    ],
    fix: [
      [
        'configuration',
        '{archived?}Remove the push to {pushedTo}, or ask its owner to unarchive the repository.',
      ],
      ['ask', '{basic?}Give the checkout a credential that can read {remote}.'],
      ['ask', '{basic?}Give the checkout a credential that can read the repository.'],
      [
        'ask',
        '{npm?}Set a value for {empty}: create the secret, or correct its name in the workflow. Jobs ' +
          'triggered by forks do not receive secrets.',
      ],
      [
        'configuration',
        '{bot?}Give the job `permissions: contents: write` so that {account} can push to {repository}.',
      ],
      ['ask', 'Give {account} write access to {repository}, or push with a token that has it.'],
      ['configuration', findPermission],
      [
        'configuration',
        "{release?}{integration?}Give the job `permissions: contents: write`; without it, the job's " +
          'token cannot create a release.',
      ],
      [
        'configuration',
        '{release?}Give the job `permissions: contents: write`; GitHub rejected the release ({code}).',
      ],
      ['configuration', '{oidc?}Give the job `permissions: id-token: write`.'],
      [
        'configuration',
        'Give the job `permissions: packages: write`, and give this repository write access to the ' +
          'package; the registry said “{package}”.',
      ],
      [
        'ask',
        'Check the image name {image}; if the image is private, log in to its registry in an earlier step.',
      ],
      [
        'ask',
        '{login?}Check that {remoteAbove} still exists under this name; if it is private, give the job a ' +
          'token that can read it.',
      ],
      [
        'ask',
        'Check that {remote} still has this name; if it is private, give the job a token that can read it.',
      ],
      [
        'ask',
        '{noPassword?}Set the secret whose value the job passes to docker login, or correct its name; ' +
          'jobs triggered by forks do not receive secrets.',
      ],
      ['ask', "{sudo?}Let the job's user run this command without a password, or pass the password to sudo."],
      ['ask', '{publickey?}Load a key that {host} accepts (such as a deploy key) before this step.'],
      ['configuration', "{hostKey?}Add the server's host key to known_hosts first (`ssh-keyscan`)."],
      ['ask', '{loginNeeded?}Give this step a token that can publish; npm is not logged in (ENEEDAUTH).'],
      [
        'ask',
        '{password?}Publish with an automation token or with trusted publishing; a job cannot enter a ' +
          'one-time password (EOTP).',
      ],
      ['ask', 'Check the value of {secret} in this step; {host} returned {code}.'],
      ['ask', 'Check the value of {secret} in this step; the response was {code}.'],
    ],
    matches: ['Error: Resource not accessible by integration'],
    ignores: ['Logging in with no credentials helper ... done', '✓ answers 401 Unauthorized'],
    says: [
      {
        log: '+ docker login -u orchard --password-stdin\nError: Cannot perform an interactive login from a non TTY device',
        title: 'docker login was given no password',
      },
      {
        log: [
          'remote: HTTP Basic: Access denied.',
          "fatal: Authentication failed for 'https://git.orchard.example/press/pears.git/'",
        ].join('\n'),
        title: 'The server rejected the Git credentials of the job',
        fix: 'Give the checkout a credential that can read https://git.orchard.example/press/pears.git/.',
      },
      {
        log: 'sudo: a password is required',
        title: 'sudo requires a password',
        fix: "Let the job's user run this command without a password, or pass the password to sudo.",
      },
      {
        log: [
          '##[group]Run ./ci/announce.sh',
          './ci/announce.sh',
          'shell: /usr/bin/bash -e {0}',
          'env:',
          '  ORCHARD_TOKEN: ***',
          '##[endgroup]',
          'announce: the market returned status: 401',
          '##[error]Process completed with exit code 1.',
        ].join('\n'),
        fix: 'Check the value of ORCHARD_TOKEN in this step; the response was 401.',
      },
      {
        log: 'Host key verification failed.',
        fix: "Add the server's host key to known_hosts first (`ssh-keyscan`).",
      },
      {
        log: [
          '##[group]Run ./ci/announce.sh',
          './ci/announce.sh',
          'shell: /usr/bin/bash -e {0}',
          'env:',
          '  ORCHARD_TOKEN: ***',
          '##[endgroup]',
          'announce: market.orchard.example answered 403 Forbidden',
          '##[error]Process completed with exit code 1.',
        ].join('\n'),
        fix: 'Check the value of ORCHARD_TOKEN in this step; the response was 403.',
      },
    ],
  },
});

/** The permission of a job's token that each part of GitHub's API needs. */
const PERMISSION_BY_API: Readonly<Record<string, string>> = {
  issues: 'issues',
  pulls: 'pull-requests',
  releases: 'contents',
  contents: 'contents',
  git: 'contents',
  checks: 'checks',
  'check-runs': 'checks',
  statuses: 'statuses',
  deployments: 'deployments',
  pages: 'pages',
  packages: 'packages',
  actions: 'actions',
};

/**
 * Names the permission that the refused call needs. Returns null if the log does not show which call it was.
 */
function findPermission(read: (slot: string) => string | null): string | null {
  const permission = PERMISSION_BY_API[read('api') ?? ''];
  if (read('integration') === null || permission === undefined) return null;
  return `Give the job \`permissions: ${permission}: write\`, because its token is not allowed to use GitHub's ${read('api')} API. Pull requests from forks never get this permission.`;
}
