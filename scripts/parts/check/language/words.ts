/** Words of a private dialect: each has a usual one. */
export const PRIVATE_WORDS =
  /\b(?:whoever|nobody|somebody|beside|meanwhile|anew|dear|told|telling|the house|the road|door|doors|landed|its turn|one's turn|a word)\b/gi;

/** First words with which a comment is a clause and no sentence. */
const CLAUSE =
  /^(?:what|how|of|whether|who|whom|whose|where|why|when|which|while|as|at|by|for|from|in|on|to|with|without|under|if|so|up|than|both|either|neither|like|beside|among|not|only|nothing|nobody|again)\b/i;

/** A verb in the third person: "Reads", "Searches", "Does", "Has". */
const VERB = /^(?:never |always |also )?(?:[a-z]+(?:s|es|ies)|is|has|does|goes|can|may|must|cannot)\b/i;

/** Words ending in "s" that are no verbs. */
const NO_VERB =
  /^(?:its|this|is not|as|plus|thus|yes|always|sometimes|others|theirs|ours|hers|his|lines|words|files|tests|bytes|logs|rules|facts|rows|tools|failures|jobs|steps)\b/i;

/** Whether a comment begins as it should: with a verb for a function, with a noun for a type or constant. */
export function isPlainSentence(comment: string, subject: 'function' | 'type'): boolean {
  // Tags, links and empty comments say nothing about language.
  if (comment === '' || comment.startsWith('@')) return true;
  if (CLAUSE.test(comment)) return false;
  return subject === 'type' || (VERB.test(comment) && !NO_VERB.test(comment));
}
