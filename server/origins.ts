/**
 * Whether a page of this origin may connect. No origin means no browser: it is let in to show its token. Once there is
 * authentication, only the origins given may; without, any may unless origins are given. `*` stands for all.
 */
export function originAllowed(
  origin: string | undefined,
  rule: { readonly origins?: readonly string[] | undefined; readonly authenticated: boolean },
): boolean {
  if (origin === undefined) return true;
  if (rule.origins === undefined) return !rule.authenticated;
  return rule.origins.some((allowed) => allowed === "*" || allowed.toLowerCase() === origin.toLowerCase());
}

/**
 * Whether a text can be compared with what browsers send: `*`, or an origin as they write it, without a path, and
 * without the port that the scheme implies. Schemes of an application's own (`app://bundle`) have no rules but that.
 */
export function isOrigin(text: unknown): boolean {
  if (typeof text !== "string") return false;
  if (text === "*") return true;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]*$/i.test(text) || !URL.canParse(text)) return false;
  return !/^https?:/i.test(text) || new URL(text).origin === text.toLowerCase();
}
