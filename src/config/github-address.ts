const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;
/** What people copy from a browser, or from the page about the other API. */
const ENTERPRISE_PATH = /^\/(?:api(?:\/v3|\/graphql)?\/?)?$/;

/**
 * The address of GitHub's REST API, from that or from what people see in the browser: github.com, an Enterprise server
 * (`https://host/api/v3`) or a tenant of ghe.com (`https://api.tenant.ghe.com`). A loopback address and one with a path of its
 * own, such as a proxy's, stay as they are. Without a slash at the end. Throws a TypeError where it is no address.
 */
export function githubApiAddress(text: string): string {
  const url = new URL(text);
  const { hostname, pathname } = url;
  const own = `${url.origin}${pathname.replace(/\/$/, '')}`;
  if (LOOPBACK.test(hostname)) return own;
  if (/^(?:www\.|api\.)?github\.com$/.test(hostname)) return 'https://api.github.com';
  if (/^[a-z0-9-]{1,63}\.ghe\.com$/.test(hostname)) return `https://api.${hostname}`;
  if (/^api\.[a-z0-9-]{1,63}\.ghe\.com$/.test(hostname)) return `https://${hostname}`;
  return ENTERPRISE_PATH.test(pathname) ? `${url.origin}/api/v3` : own;
}
