import { type RuleRow, ruleTable } from '../rule.ts';

/** Permissions, secrets and logins of the build. */
export const ACCESS_RULES: readonly RuleRow[] = ruleTable('CONFIG_ERROR', {
  'not-executable': {
    kind: 'permission_or_secret',
    strength: 4.6,
    patterns: [
      /\b[\w./-]{1,240}: [Pp]ermission denied$/,
      /exit (?:code|status) 126\b/,
      /(?:\.sh|\.py|gradlew|mvnw)['"]?:? [Pp]ermission denied/,
      /CreateProcess error=5/,
    ],
    meets: ['./ci/weigh.sh: line 4: ./scales: Permission denied'],
    spares: ['✓ answers with Permission denied'],
  },
  'file-permission': {
    kind: 'permission_or_secret',
    strength: 3.4,
    patterns: [
      /\b(?:EACCES|EPERM)\b|[Pp]ermission denied|[Oo]peration not permitted|AccessDeniedException|not writable/,
      /Access (?:to the path )?.{0,120}is denied/,
    ],
    meets: ["Error: EACCES: permission denied, mkdir '/srv/scales'"],
    spares: ["find: warning: ignoring '/root': Permission denied", '✓ fails where the folder is not writable'],
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
    meets: ['./ci/pack.sh: line 9: ORCHARD_TOKEN: ORCHARD_TOKEN is not set'],
    spares: ['ORCHARD_TOKEN: ***', '  --token  the token (ORCHARD_TOKEN)'],
  },
  'credentials-refused': {
    kind: 'permission_or_secret',
    strength: 4.4,
    patterns: [
      /Unable to authenticate|Requires authentication|Authentication (?:failed|required)/i,
      /Bad credentials|Credentials could not be loaded|no basic auth credentials|Incorrect or missing password/i,
      /Host key verification failed/i,
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
      /AccessDenied|Access denied for user|pull access denied|insufficient[_ ]scope|not authorized to perform/i,
      /\b40[13] (?:Unauthorized|Forbidden)/i,
      /(?:HTTP|returned error:|status(?: code)?:?) 40[13]\b/i,
      /Invalid (?:username|token|API key|credentials)/i,
      /No credentials (?:found|provided|configured|were|available|for)/i,
    ],
    when: (fact) => !/rate limit/i.test(fact.text),
    meets: ['Error: Resource not accessible by integration'],
    spares: ['Logging in with no credentials helper ... done', '✓ answers 401 Unauthorized'],
  },
});
