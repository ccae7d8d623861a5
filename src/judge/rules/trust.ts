import { defineRules, type RuleRow } from '../rule.ts';

/** Rules for connections that one side refuses because it does not trust the other. */
export const TRUST_RULES: readonly RuleRow[] = defineRules('CONFIG_ERROR', {
  'docker-socket-refused': {
    kind: 'permission_or_secret',
    strength: 5,
    patterns: [/permission denied while trying to connect to the Docker (?:daemon socket|API)/i],
    reads: [/\bat (?<socket>unix:\/\/\S{1,160}?):? /],
    title: 'The job may not use the Docker daemon',
    cause: 'The user that runs the step has no permission to use the Docker socket {socket}.',
    fix: [
      [
        'configuration',
        'Add the user that runs the step to the group that owns {socket} (usually `docker`), or run the ' +
          'step as a user who may use it.',
      ],
    ],
    outranks: ['not-executable', 'file-permission'],
    matches: [
      'permission denied while trying to connect to the Docker daemon socket at ' +
        'unix:///run/orchard.sock: dial unix /run/orchard.sock: connect: permission denied',
    ],
    ignores: ['Connected to the Docker daemon socket at unix:///run/orchard.sock'],
    says: [
      {
        log:
          'permission denied while trying to connect to the Docker daemon socket at ' +
          'unix:///run/orchard.sock: dial unix /run/orchard.sock: connect: permission denied',
        cause:
          'The user that runs the step has no permission to use the Docker socket unix:///run/orchard.sock.',
      },
    ],
  },
  'certificate-untrusted': {
    kind: 'environment',
    strength: 4.6,
    patterns: [
      /SSL certificate problem: self[- ]signed certificate/,
      /server certificate verification failed/,
      /x509: certificate signed by unknown authority/,
    ],
    reads: [
      /(?<objection>SSL certificate problem: [\w -]{1,80}|server certificate verification failed|certificate signed by unknown authority)/,
      /unable to access '(?<server>https:\/\/[^'\s/]{1,120})/,
      /\b(?:curl|git|wget) [^\n]{0,200}?(?<server>https:\/\/(?!curl\.se)[^\s'"/]{1,120})/,
    ],
    title: [
      'The job does not trust the certificate of {server}',
      'The job does not trust the certificate of a server',
    ],
    cause: [
      'The step stopped the connection to {server}: “{objection}”.',
      'The step stopped a connection: “{objection}”.',
    ],
    fix: [
      [
        'configuration',
        "Install the authority that signed the certificate of {server} in the job's image instead of " +
          'turning off verification, which says “{objection}”.',
      ],
      [
        'configuration',
        "Install the authority that signed the server's certificate in the job's image instead of " +
          'turning off verification, which says “{objection}”.',
      ],
    ],
    outranks: ['tls-trouble', 'connection-broken', 'download-failed'],
    matches: [
      'curl: (60) SSL certificate problem: self-signed certificate in certificate chain',
      "fatal: unable to access 'https://git.orchard.example/scales.git/': server certificate " +
        'verification failed. CAfile: none CRLfile: none',
    ],
    ignores: ['✓ refuses a self-signed certificate', 'Certificate expires in 90 days'],
    says: [
      {
        log:
          "fatal: unable to access 'https://git.orchard.example/scales.git/': server certificate " +
          'verification failed. CAfile: none CRLfile: none',
        title: 'The job does not trust the certificate of https://git.orchard.example',
        cause:
          'The step stopped the connection to https://git.orchard.example: “server certificate ' +
          'verification failed”.',
      },
      {
        log: 'curl: (60) SSL certificate problem: self-signed certificate',
        fix:
          "Install the authority that signed the server's certificate in the job's image instead of " +
          'turning off verification, which says “SSL certificate problem: self-signed certificate”.',
      },
    ],
  },
});
