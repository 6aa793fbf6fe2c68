import type { Channels } from './channels.ts';
import type { ChannelTransition, PeerHint } from './transition.ts';

/** While one replica probes a circuit, the other replicas send no call for this time. */
const PROBE_MS = 5_000;

export interface CircuitHintsDeps {
  /** Sends a message to all replicas. Never throws. */
  readonly publish: (message: CircuitMessage) => void;
  readonly replica_id: () => string;
  readonly now: () => number;
}

/** A peer hint on its way. */
export interface CircuitMessage {
  readonly replica: string;
  readonly channel: string;
  readonly model: string;
  readonly kind: PeerHint['kind'];
  /**
   * How long the channel gets no call, counted from the arrival of the message, because the clocks
   * of replicas differ.
   */
  readonly rest_ms?: number;
  readonly reason?: string | null;
}

/**
 * Sends and receives peer hints: messages by which a replica tells the others that a circuit
 * changed. So the change takes effect on all replicas at once. If a hint is lost, each replica
 * opens its circuit after a few failed attempts of its own, and the failed calls try another
 * channel.
 */
export class CircuitHints {
  constructor(private readonly deps: CircuitHintsDeps) {}

  /** Sends a hint to the other replicas. If a hint caused the change, sends nothing. */
  announce(transition: ChannelTransition): void {
    const hint = hintOf(transition);
    if (!hint || transition.is_from_peer_hint) return;
    const { channel_id: channel, model } = transition;
    this.deps.publish({ replica: this.deps.replica_id(), channel, model, ...hint });
  }

  /** Applies a hint of another replica. Hints of this replica are ignored. */
  receive(
    { replica, channel, model, kind, rest_ms = 0, reason = null }: CircuitMessage,
    channels: Channels,
  ): void {
    if (replica === this.deps.replica_id()) return;
    const hint: PeerHint =
      kind === 'left_alone' ? { kind, until: this.deps.now() + rest_ms, reason } : { kind };
    channels.onPeerHint(channel, model, hint);
  }
}

function hintOf({
  from,
  to,
  reason,
  open_until,
  at_ms,
  returns,
}: ChannelTransition): Pick<CircuitMessage, 'kind' | 'rest_ms' | 'reason'> | undefined {
  if (to === 'open') return { kind: 'left_alone', rest_ms: open_until - at_ms, reason };
  if (to === 'probing') return { kind: 'left_alone', rest_ms: PROBE_MS, reason };
  if (to === 'disabled' && returns) return { kind: 'refused' };
  return to === 'degraded' && from !== 'healthy' ? { kind: 'mended' } : undefined;
}
