/**
 * Cedar text made of texts of ours: literals and patterns in which nothing can end what it stands in. Pure.
 */

/** Everything but plain letters of a literal is spelled by its code point. */
function spelled(text: string): string {
  return text.replace(/[^A-Za-z0-9 .,:;_/#@=+()[\]{}<>&|!?$%^~`'-]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
  });
}

/** A string literal. */
export function cedarString(text: string): string {
  return `"${spelled(text)}"`;
}

/** A pattern of `like` that matches this text alone: of a value that is no text it is an error, which `==` is not. */
export function cedarExactly(text: string): string {
  return `"${text.split('*').map(spelled).join('\\*')}"`;
}

/** A condition that a value matches a pattern of ours, whose `*` stays within one segment between slashes. */
export function cedarLike(value: string, pattern: string): string {
  const wide = cedarWide(value, pattern);
  return pattern.includes('*') ? `${wide} && !(${value} like "${'*/'.repeat(pattern.split('/').length)}*")` : wide;
}

/** The same where `*` crosses slashes. */
export function cedarWide(value: string, pattern: string): string {
  return `${value} like "${pattern.split('*').map(spelled).join('*')}"`;
}

/** `a` for an attribute named `a`, `["a b"]` for any other name. */
export function cedarMember(name: string): string {
  return `[${cedarString(name)}]`;
}
