/** What happens to a call that exceeds a budget or a limit of its key, as an organization chooses it. */
export type WhenReached = 'refuse' | 'warn' | { readonly move_to: string };
