import { isPublishedVersionMissing } from '../line-facts.ts';
import { defineRules, type RuleRow } from '../rule.ts';

/** Rules for networks and external services that did not answer. */
export const NETWORK_RULES: readonly RuleRow[] = defineRules('INFRA_ERROR', {
  'name-resolution': {
    kind: 'network',
    strength: 4.2,
    patterns: [
      /Temporary failure in name resolution/i,
      /Could(?: not|n't) resolve (?:host|proxy)/i,
      /UnknownHostException|getaddrinfo failed|no such host|server misbehaving/i,
      /\b(?:EAI_AGAIN|ENOTFOUND)\b/i,
      /DNS resolution failed/i,
      /Name or service not known|nodename nor servname provided, or not known/i,
      /dns lookup .{0,80}(?:failed|exceeded|timed out)/i,
    ],
    title: '{host} cannot be resolved',
    cause:
      "The job could not resolve {host}. Either the name is wrong or no longer exists, or the runner's " +
      'DNS server does not respond.',
    fix: [
      [
        'rerun',
        'Run the job again; if {host} still cannot be resolved, check the spelling of the name and ' +
          'whether the runner can reach it.',
      ],
    ],
    matches: [
      "fatal: unable to access 'https://git.orchard.example/scales.git/': Could not resolve host: " +
        'git.orchard.example',
      `the map was not downloaded: "Couldn't resolve host name"`,
    ],
    ignores: ['DNS lookup took 4 ms', '✓ tells an ENOTFOUND apart'],
  },
  'connection-broken': {
    kind: 'network',
    strength: 3.8,
    patterns: [
      /\b(?:ECONNRESET|ETIMEDOUT|EPIPE|EHOSTUNREACH|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT)\b/i,
      /Connection (?:reset|aborted|closed by remote host)/i,
      /(?:Connection|Read|operation) timed out|(?:Connect|Read)Timeout/i,
      /(?:^|: )(?:connection timeout\b(?!:)|socket hang up)/i,
      /SocketTimeoutException|RemoteDisconnected|IncompleteRead|ChunkedEncodingError|ProtocolError/i,
      /No route to host|Network is unreachable|Network request failed|network error/i,
      /early EOF|RPC failed; |unexpected disconnect while reading|the remote end hung up unexpectedly/i,
      /i\/o timeout|context deadline exceeded|net\/http: request canceled|TLS handshake timeout/i,
      /Timeout awaiting 'request'/i,
      /^(?:.{0,80}\s)?curl: \((?:5|6|7|18|28|35|52|56|92)\)/i,
      /unable to access .{1,200}(?:Could not|Failed to connect|timed out|Operation)/i,
    ],
    reads: [/(?<slow>timed? ?out)/i],
    title: [
      (read) => read('slow') && read('host') && `${read('host')} did not respond in time`,
      '{host} dropped the connection',
    ],
    cause: 'The connection to {host} failed: “{message}”. Nothing in the log points to the project.',
    fix: [
      [
        'rerun',
        'Run the job again. The connection to {host} broke, and your project is not involved. If it ' +
          'happens often, retry that request.',
      ],
    ],
    matches: ['npm error code ECONNRESET'],
    ignores: ['  --connect-timeout  connect timeout in seconds (default: 10)', 'Read timeout: 30 s'],
  },
  'connection-refused': {
    kind: 'network',
    strength: 3,
    patterns: [
      /\bECONNREFUSED\b|[Cc]onnection refused|ConnectionRefused|actively refused it|connect: refused/,
      /Could(?: not|n't) connect to server/,
    ],
    matches: ['curl: (7) Failed to connect to fruit.orchard.example port 443 after 4 ms: Connection refused'],
    ignores: ['✓ tells when the connection refused'],
  },
  'tls-trouble': {
    kind: 'network',
    strength: 3.4,
    patterns: [
      /SSL(?:_ERROR| error)[: ].{0,60}(?:EOF|reset|SYSCALL|zero return)/i,
      /SSLHandshakeException/i,
      /certificate (?:has expired|verify failed)|CERT_HAS_EXPIRED|unable to get local issuer/i,
      /fatal alert: /i,
      /gnutls_handshake/i,
    ],
    reads: [
      /(?<untrusted>self[- ]signed certificate(?: in certificate chain)?|unable to get local issuer certificate)/i,
      /(?<expired>certificate has expired|CERT_HAS_EXPIRED)/i,
    ],
    title: [
      '{expired?}The certificate of {host} has expired',
      '{untrusted?}The job does not trust the certificate of {host}',
      'The TLS connection to {host} failed',
    ],
    cause: [
      'The TLS connection to {host} failed: “{untrusted}”.',
      'The TLS connection to {host} failed: “{expired}”.',
    ],
    fix: [
      ['ask', '{expired?}Have the certificate of {host} renewed, because it has expired.'],
      [
        'configuration',
        "{untrusted?}Install the authority that signed the certificate of {host} in the job's image; do " +
          'not turn off verification.',
      ],
    ],
    matches: ['curl: (60) SSL certificate problem: unable to get local issuer certificate'],
    ignores: ['Certificate expires in 90 days'],
  },
  'cargo-source-unreachable': {
    kind: 'network',
    strength: 4.6,
    patterns: [
      /^\s{0,8}network failure seems to have happened/,
      /^\s{0,8}SSL error: (?:received early EOF|unknown error|syscall failure)/,
      /^warning: spurious network error/,
    ],
    reads: [
      /failed to fetch (?:into: )?`?(?<address>https:\/\/[^`\s]{1,160})/,
      /(?:dependency|get) `(?<crate>[\w-]{1,64})`/,
    ],
    title: ['Cargo could not reach the source of {crate}', 'Cargo could not reach a source of crates'],
    cause: [
      'Cargo could not fetch {crate} from {address}: “{message}”.',
      'Cargo could not fetch {crate}: “{message}”.',
      'Cargo could not fetch a crate: “{message}”.',
    ],
    fix: [
      [
        'rerun',
        'Run the job again. The connection of cargo broke, and your project is not involved. If it ' +
          'happens often, raise `net.retry`.',
      ],
    ],
    outranks: ['members-do-not-fit', 'download-failed', 'tls-trouble'],
    matches: ['  network failure seems to have happened'],
    ignores: ['  if a proxy or similar is necessary `net.git-fetch-with-cli` may help here'],
    says: [
      {
        log: [
          'error: failed to get `pear` as a dependency of package `basket v0.1.0`',
          '',
          'Caused by:',
          '  failed to fetch `https://crates.orchard.example/index`',
          '',
          'Caused by:',
          '  network failure seems to have happened',
        ].join('\n'),
        title: 'Cargo could not reach the source of pear',
        fix:
          'Run the job again. The connection of cargo broke, and your project is not involved. If it ' +
          'happens often, raise `net.retry`.',
      },
    ],
  },
  'server-error': {
    kind: 'service_unavailable',
    strength: 4,
    patterns: [
      /\b(?:HTTP(?:\/\d(?:\.\d)?)?|status(?: code)?|error|code|returned|received|server)\b[^\n]{0,40}\b5(?:00|02|03|04|20|22|24)\b(?!-)/i,
      /\b50[0234] (?:Internal )?Server Error/i,
      /Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out|upstream connect error/i,
      /\bnpm(?: ERR!| error)?:?(?: code)? E5\d\d\b/i,
      /\b503 status code/i,
    ],
    reads: [
      /\b(?<answer>5(?:0[0-4]|2[024]) [A-Z][a-zA-Z-]{2,20}(?: [A-Z][a-zA-Z-]{2,20}){0,2})/,
      /\b(?<answer>5(?:0[0-4]|2[024]))\b/,
      /(?<answer>Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out)/i,
    ],
    title: '{host} returned {answer}',
    cause: 'A request to {host} returned {answer}. The server failed, not the request.',
    fix: [['rerun', 'Run the job again. {host} returned {answer}, and your project is not involved.']],
    matches: ['error: failed to fetch `https://index.orchard.example/pear`: 503 Service Unavailable'],
    ignores: [
      '  .output/server/chunks/error-500-styles.mjs (216 B)',
      'Downloaded 502 files',
      '✓ answers Bad Gateway',
    ],
  },
  'rate-limited': {
    kind: 'rate_limited',
    strength: 4.6,
    patterns: [
      /too ?many ?requests/i,
      /rate limit(?:ed)? (?:exceeded|reached)/i,
      /reached your (?:unauthenticated )?pull rate limit/i,
      /exceeded a secondary rate limit/i,
      /\b(?:HTTP|status|code|error)\D{0,12}429\b/i,
      /over its data quota|quota exceeded/i,
    ],
    title: '{host} is limiting requests',
    cause: '{host} rejected the request because it had received too many requests.',
    fix: [
      [
        'rerun',
        'Run the job again when the rate limit of {host} resets; sign in or cache the downloads to make ' +
          'fewer requests.',
      ],
    ],
    outranks: ['credentials-refused', 'file-permission'],
    matches: ['batch response: This repository is over its data quota.'],
    ignores: ['API rate limit remaining: 4999', '✓ waits when Too Many Requests'],
  },
  'download-failed': {
    kind: 'network',
    strength: 3,
    patterns: [
      /Release file for \S{1,200} is (?:not valid yet|expired)/i,
      /I\/O error : failed to load external entity ['"]?https?:/i,
      /Cache service responded with/i,
      /Failed to download (?:archive|action|file|artifact)?.{0,200}after \d{1,3} attempts/i,
      /Could not transfer (?:artifact|metadata)/i,
      /Failed to fetch https?:\/\//i,
      /Failed to download metadata for repo|Cannot download repomd|All mirrors were tried|Errors during downloading metadata/i,
      /Failed to read package header/i,
      /Hash Sum mismatch|Mirror sync in progress|File has unexpected size|unexpected EOF/i,
      /error: RPC failed|Timeout was reached|curl error|network timeout|npm (?:ERR!|error) network|spurious network error/i,
      /failed to copy: httpReadSeeker/i,
      /download(?:ing)? .{0,120} (?:failed|timed out)/i,
      /CondaHTTPError/i,
      /Cannot find a valid baseurl for repo/i,
      /temporary error \(try again later\)/i,
      /Failed to download resource "/i,
      /Could not (?:GET|HEAD) 'https?:/i,
    ],
    when: (fact) =>
      !isPublishedVersionMissing(fact.text) && !/\b40[134]\b/.test(fact.text) && !/\$\{|%\{/.test(fact.text),
    reads: [
      /Could not transfer (?:artifact|metadata) (?<download>\S{1,160}) from/,
      /Failed to download (?:archive|action|file|artifact) ['"]?(?<download>\S{1,160}?)['"]?(?: |$)/,
      /Release file for (?<release>\S{1,200}) is (?:not valid yet|expired)/,
    ],
    title: ['{download} could not be downloaded', 'The download from {host} failed'],
    cause: [
      "The package index of {release} is not valid at the machine's time: either the mirror is stale or " +
        'the clock is wrong.',
      'The download of {download} from {host} failed: “{message}”.',
      'The download from {host} failed: “{message}”.',
    ],
    fix: [
      [
        'rerun',
        'Run the job again. The download from {host} was interrupted, and your project is not involved.',
      ],
    ],
    matches: ['CondaHTTPError: HTTP 000 CONNECTION FAILED for url <https://conda.orchard.example/noarch>'],
    ignores: [
      'Downloading pear 1.2.3 (2.1 MB)',
      'Post-download check of pear failed over to the next mirror, ignored',
    ],
  },
  'stale-mirror': {
    kind: 'network',
    strength: 4.4,
    patterns: [/E: Failed to fetch \S{1,300}\.deb\s{1,6}404/],
    reads: [/\/(?<deb>[^/_\s]{1,80})_(?<version>[^_\s]{1,60})_\w{1,12}\.deb\s{1,6}404/],
    title: '{host} no longer has {deb} {version}',
    cause:
      'apt requested {deb} {version} from {host}, which no longer has it, because the package index of ' +
      'this image is older than the mirror.',
    fix: [
      [
        'configuration',
        'Run `apt-get update` in the same step before installing the packages, because the index still ' +
          'lists {deb} {version}.',
      ],
    ],
    matches: [
      'E: Failed to fetch http://deb.orchard.example/pool/main/p/pear/pear_1.2-3_amd64.deb  404  Not Found',
    ],
    ignores: ['Get:4 http://deb.orchard.example/pool/main/p/pear/pear_1.2-3_amd64.deb [404 kB]'],
  },
});
