import type { ChannelAccount } from '../../actors/channels/account.ts';
import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { Channels } from '../../actors/channels/channels.ts';
import type { Clock } from '../../actors/clock.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { RetryableUpstreamError } from '../../upstreams/contract.ts';
import { type ProbeResult, probe } from './probe.ts';

const POLL_MS = 250;

/** Dependencies of `Prober`. */
export interface ProberDeps {
  readonly channels: Channels;
  readonly catalogue: () => Catalogue;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Sends probes. A channel with `probe_s` (seconds between two probes) gets probes while its circuit
 * is open after failures, or while the channel is disabled. So no client's call has to test the
 * channel. An operator can request a probe too.
 */
export class Prober {
  private stopClock: () => void = () => undefined;
  private readonly running = new Map<string, Promise<void>>();
  private readonly last_probe_ms = new Map<string, number>();

  constructor(private readonly deps: ProberDeps) {}

  /** Starts to poll for channels that need a probe. */
  start(): void {
    this.stopClock = this.deps.clock.after(POLL_MS, () => {
      for (const account of this.deps.channels.all) this.probeIfDue(account);
      this.start();
    });
  }

  /** Stops polling; resolves when the running probes have ended. */
  async stop(): Promise<void> {
    this.stopClock();
    await Promise.all(this.running.values());
  }

  /**
   * Probes a channel now and returns the result. If the probe called the model with success, the
   * channel serves again. A probe of kind `reach` only checks that the host responds, so it does not
   * change the channel.
   */
  async test(channel: ChannelActor): Promise<ProbeResult> {
    const result = await this.runProbe(channel);
    if (result.ok && result.kind === 'call') channel.mend('probe');
    return result;
  }

  /**
   * Probes one channel of an account if a probe is due. An account holds what all models of one
   * configured channel share. It has at most one probe at a time, and at most one probe in
   * `probe_s` seconds.
   */
  private probeIfDue(account: ChannelAccount<ChannelActor>): void {
    const { id, probe_s } = account.config;
    if (probe_s === undefined || this.running.has(id)) return;
    const now = this.deps.clock.now();
    if (now - (this.last_probe_ms.get(id) ?? 0) < probe_s * 1_000) return;
    for (const channel of account.actors) {
      if (channel.state !== 'open' && channel.state !== 'disabled') continue;
      const permit = channel.tryAcquire('probe');
      if (!permit) continue;
      this.last_probe_ms.set(id, now);
      const probing = this.runProbe(channel)
        .then(({ ok, failure, message }) => {
          if (ok) permit.succeeded();
          else if (failure === 'client') permit.abandoned();
          else permit.failed(new RetryableUpstreamError(failure as 'server', message ?? ''));
        })
        .catch(this.deps.onError)
        .finally(() => this.running.delete(id));
      this.running.set(id, probing);
      return;
    }
  }

  private runProbe(channel: ChannelActor): Promise<ProbeResult> {
    const { catalogue, clock } = this.deps;
    return probe(channel, catalogue().find(channel.model), () => clock.now());
  }
}
