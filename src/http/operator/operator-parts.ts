import type { Sql } from 'postgres';
import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { Channels } from '../../actors/channels/channels.ts';
import type { Audit } from '../../actors/money/audit.ts';
import type { CurrentInstallation } from '../../config/current-installation.ts';
import type { ProbeResult } from '../../inference/probing/probe.ts';
import type { Authentication } from '../auth/authentication.ts';

/** The parts of this process that the operator routes use. */
export interface OperatorParts {
  readonly sql: Sql;
  /** Checks the books. */
  readonly audit: Pick<Audit, 'runWithin'>;
  readonly channels: Channels;
  readonly prober: { test(channel: ChannelActor): Promise<ProbeResult> };
  readonly replica_id: () => string;
  /**
   * Notifies all replicas that an operator enabled or disabled a channel. Called after the commit,
   * and also if Weir does not know whether the change was committed. Must not throw.
   */
  readonly announceSwitch: (channel_id: string) => void;
  /** Resolves when this replica has applied all switches that were committed before the call. */
  readonly applySwitches: () => Promise<void>;
  /** What `weir.yaml` and operators configure. */
  readonly installation: Pick<CurrentInstallation, 'now'>;
  /** Encrypts the keys of channels that operators make; 32 bytes. */
  readonly channel_keys: Uint8Array;
  /** Notifies all replicas that an operator changed a row of the configuration. Must not throw. */
  readonly announceChannels: () => void;
  /** Resolves when this replica has applied all such changes that were committed before the call. */
  readonly applyChannels: () => Promise<void>;
}

/** Dependencies of the operator routes. */
export interface OperatorDeps {
  readonly authentication: Authentication;
  readonly operator: () => OperatorParts;
}
