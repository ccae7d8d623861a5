/** Messages of network or service failures that are on the same line as the host. */
const REFUSED = new RegExp(
  [
    'ECONN(?:REFUSED|RESET)|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|connection (?:refused|reset|timed out)',
    'could not resolve|temporary failure in name resolution|no such host|UnknownHostException',
    'i/o timeout|TLS handshake timeout|Max retries exceeded|Failed to (?:connect|fetch)',
    String.raw`\b(?:429|50[0234])\b|service unavailable|bad gateway|gateway time-?out|too many requests`,
  ].join('|'),
  'i',
);
const HOSTS = new RegExp(
  String.raw`https?://(?:[^\s/@]{1,100}@)?(?<address>[\w.-]{3,200})|` +
    '(?:host=?:? ?[\'"]?|ENOTFOUND |EAI_AGAIN |ECONNREFUSED |lookup |resolve host:? ?|to )' +
    String.raw`['"]?(?<name>[\w-]{1,63}(?:\.[\w-]{1,63}){1,6})`,
);
/** Hosts that belong to the job itself. A failure of one is not an external incident. */
const OWN = /^(?:localhost|[\d.]+|.*\.(?:local|internal|localhost|test|example|invalid|svc))$/i;
const MAX_LINE = 2_000;

/** Finds the external host that a failure could not reach. Returns null if it names none. */
export function findRefusedHost(texts: readonly string[]): string | null {
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    const text = line.slice(0, MAX_LINE);
    if (!REFUSED.test(text)) continue;
    const { address, name } = HOSTS.exec(text)?.groups ?? {};
    const host = (address ?? name)?.toLowerCase().replace(/\.$/, '');
    if (host?.includes('.') && !OWN.test(host)) return host;
  }
  return null;
}
