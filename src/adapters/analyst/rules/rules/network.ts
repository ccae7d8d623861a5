import { isPublishedVersionMissing } from '../registry.ts';
import { type Rule, ruleTable } from '../rule.ts';

/** The network, or a service that others run, did not answer. */
export const NETWORK_RULES: readonly Rule[] = ruleTable({ category: 'INFRA_ERROR' }, [
  [
    'name-resolution',
    'network',
    4.2,
    /Temporary failure in name resolution|Could not resolve (?:host|proxy)|UnknownHostException|EAI_AGAIN|getaddrinfo (?:ENOTFOUND|failed)|\bENOTFOUND\b|no such host|DNS resolution failed|Name or service not known|nodename nor servname|dns lookup|server misbehaving/i,
  ],
  [
    'connection-broken',
    'network',
    3.8,
    /\bECONNRESET\b|Connection reset(?: by peer)?|\bETIMEDOUT\b|Connection timed out|connect(?:ion)? timeout|ConnectTimeout|Read timed out|ReadTimeout|SocketTimeoutException|socket hang up|\bEPIPE\b|No route to host|Network is unreachable|EHOSTUNREACH|early EOF|RPC failed; |unexpected disconnect while reading|the remote end hung up unexpectedly|i\/o timeout|context deadline exceeded|net\/http: (?:request canceled|TLS handshake)|TLS handshake timeout|Connection aborted|RemoteDisconnected|ERR_SOCKET_TIMEOUT|ESOCKETTIMEDOUT|IncompleteRead|ChunkedEncodingError|ProtocolError|Timeout awaiting 'request'|operation timed out|Network request failed|network error|curl: \((?:5|6|7|18|28|35|52|56|92)\)|unable to access .{1,200}(?:Could not|Failed to connect|timed out|Operation)|Connection closed by remote host/i,
  ],
  [
    'connection-refused',
    'network',
    3,
    /\bECONNREFUSED\b|[Cc]onnection refused|ConnectionRefused|actively refused it|connect: refused|Could not connect to server/,
  ],
  [
    'tls-trouble',
    'network',
    3.4,
    /SSL(?:_ERROR| error)[: ].{0,60}(?:EOF|reset|SYSCALL|zero return)|SSLHandshakeException|certificate (?:has expired|verify failed)|CERT_HAS_EXPIRED|unable to get local issuer|fatal alert: |gnutls_handshake/i,
  ],
  [
    'server-error',
    'service_unavailable',
    4,
    /\b(?:HTTP(?:\/\d(?:\.\d)?)?|status(?: code)?|error|code|returned|received|server)\b[^\n]{0,40}\b5(?:00|02|03|04|20|22|24)\b|\b50[0234] (?:Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out|Internal Server Error|Server Error)|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out|upstream connect error|E5\d\d\b|\b503 status code/i,
  ],
  [
    'rate-limited',
    'rate_limited',
    4.6,
    /429 Too Many Requests|Too Many Requests|toomanyrequests|rate limit(?:ed)? (?:exceeded|reached)|API rate limit|reached your (?:unauthenticated )?pull rate limit|secondary rate limit|\b(?:HTTP|status|code|error)\D{0,12}429\b|quota exceeded/i,
  ],
  [
    'download-failed',
    'network',
    3,
    /Failed to download (?:archive|action|file|artifact)?.{0,200}after \d{1,3} attempts|Could not transfer (?:artifact|metadata)|Failed to fetch https?:\/\/|Failed to download metadata for repo|Failed to read package header|Cannot download repomd|All mirrors were tried|Hash Sum mismatch|Mirror sync in progress|File has unexpected size|unexpected EOF|error: RPC failed|Errors during downloading metadata|failed to copy: httpReadSeeker|Timeout was reached|curl error|download(?:ing)? .{0,120} (?:failed|timed out)|network timeout|npm (?:ERR!|error) network|Could not (?:GET|HEAD) 'https?:/i,
    {
      when: (fact) => !isPublishedVersionMissing(fact.text) && !/\b40[134]\b/.test(fact.text) && !/\$\{|%\{/.test(fact.text),
    },
  ],
  ['stale-mirror', 'network', 4.4, /E: Failed to fetch \S{1,300}\.deb\s{1,6}404/],
]);
