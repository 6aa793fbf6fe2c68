import type { ChannelAccount } from '../../actors/channels/account.ts';
import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { Channels } from '../../actors/channels/channels.ts';
import type { Clock } from '../../actors/clock.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { RetryableUpstreamError } from '../../upstreams/contract.ts';
import { type ProbeResult, probe } from './probe.ts';

const LOOK_MS = 250;

export interface ProberDeps {
  readonly channels: Channels;
  readonly catalogue: () => Catalogue;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Calls of Weir's own: those that find out whether a sick channel is well again, where the channel's
 * `probe_s` asks for them, so that no client's call has to; and those that an operator asks for.
 */
export class Prober {
  private stopClock: () => void = () => undefined;
  private readonly asking = new Map<string, Promise<void>>();
  private readonly asked_ms = new Map<string, number>();

  constructor(private readonly deps: ProberDeps) {}

  start(): void {
    this.stopClock = this.deps.clock.after(LOOK_MS, () => {
      for (const account of this.deps.channels.all) this.look(account);
      this.start();
    });
  }

  async stop(): Promise<void> {
    this.stopClock();
    await Promise.all(this.asking.values());
  }

  /** What a channel's model answers now. A success lets it in again. */
  async test(channel: ChannelActor): Promise<ProbeResult> {
    const verdict = await this.ask(channel);
    if (verdict.ok && verdict.kind === 'call') channel.onProbeSucceeded();
    return verdict;
  }

  /** One probe at a time for each account, and not more often than it says. */
  private look(account: ChannelAccount<ChannelActor>): void {
    const { id, probe_s } = account.config;
    if (probe_s === undefined || this.asking.has(id)) return;
    const now = this.deps.clock.now();
    if (now - (this.asked_ms.get(id) ?? 0) < probe_s * 1_000) return;
    for (const channel of account.actors) {
      if (channel.state !== 'open' && channel.state !== 'disabled') continue;
      const permit = channel.tryAcquire('probe');
      if (!permit) continue;
      this.asked_ms.set(id, now);
      const asking = this.ask(channel)
        .then(({ ok, failure, message }) => {
          if (ok) permit.succeeded();
          else if (failure === 'client') permit.abandoned();
          else permit.failed(new RetryableUpstreamError(failure as 'server', message ?? ''));
        })
        .catch(this.deps.onError)
        .finally(() => this.asking.delete(id));
      this.asking.set(id, asking);
      return;
    }
  }

  private ask(channel: ChannelActor): Promise<ProbeResult> {
    const { catalogue, clock } = this.deps;
    return probe(channel, catalogue().find(channel.model), () => clock.now());
  }
}
