import type { ChannelState } from './account.ts';

/** A change of state of a circuit, for logs, metrics and peer hints. */
export interface ChannelTransition {
  channel_id: string;
  /** The public model of the circuit. */
  model: string;
  from: ChannelState;
  to: ChannelState;
  /** Why the circuit is open or disabled. */
  reason: string | null;
  /** No call is sent before this time, ms since the epoch. */
  open_until: number;
  /** True if the upstream refused the credentials and a later call will test them again. */
  returns: boolean;
  /** True if a message of another replica (a peer hint) caused the change. */
  is_from_peer_hint: boolean;
  at_ms: number;
}

/**
 * What another replica observed of a model on a channel. `mended`: the model serves calls again.
 * `refused`: the upstream refused the credentials. `left_alone`: the model gets no call before
 * `until`, ms since the epoch.
 */
export type PeerHint =
  | { readonly kind: 'mended' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'left_alone'; readonly until: number; readonly reason: string | null };
