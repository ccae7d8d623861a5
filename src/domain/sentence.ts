/** The text with a full stop, unless it ends as sentences do: something else follows it. */
export function asSentence(text: string): string {
  const whole = text.trimEnd();
  return whole === '' || /[.!?…]["'”’)\]`]?$/.test(whole) ? whole : `${whole}.`;
}
