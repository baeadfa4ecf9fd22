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
