/**
 * Foreign text as a message of SARIF 2.1.0: braces would be placeholders and are doubled (3.11.5), brackets would be links and are
 * escaped (3.11.6). What no JSON text may hold (half a surrogate pair) becomes U+FFFD.
 */
export function sarifText(text: string): string {
  const literal = text.toWellFormed().replace(/[[\]\\]/g, '\\$&');
  const escaped = literal.replaceAll('{', '{{').replaceAll('}', '}}');
  return escaped.trim() === '' ? '-' : escaped;
}
