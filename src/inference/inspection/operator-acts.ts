import type { Sql } from 'postgres';
import { findTimer } from '../../../db/actors/timer.ts';
import type { Actor } from '../../../db/audit/entry.ts';
import { noteChange } from '../../../db/audit/log.ts';
import type { Channels } from '../../actors/channels/channels.ts';
import type { ActorCommand, CommandResult } from '../../actors/durable/command.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { BY_OPERATOR } from '../../replay/event-ring.ts';
import { statePath } from '../../replay/step.ts';
import { ACT_KINDS, type Act, isCanceled, mayAct, retryTimer } from './act-rules.ts';
import { snapshotOfFound } from './inspected.ts';
import type { FoundActor } from './inspector.ts';

export interface OperatorActsDeps {
  readonly sql: Sql;
  readonly send: (command: ActorCommand) => Promise<CommandResult>;
  readonly tasks: { cancel(id: string, organization_id: string, by: 'operator'): Promise<void> };
  readonly batches: {
    cancel(id: string, organization_id: string, by: 'operator'): Promise<unknown>;
  };
  readonly channels: Pick<Channels, 'find'>;
  /** Lets the other replicas reset the circuit of a model on a channel. Must not throw. */
  readonly announceReset: (channel_id: string, model: string) => void;
}

/** What an operator wants, and who he is. */
export interface WantedAct {
  readonly act: Act;
  readonly actor: Actor;
  /** The state in which the operator saw the actor. */
  readonly state: string;
  readonly reason: string | undefined;
}

/**
 * What operators do to single actors. Each act is an event that the actor's machine takes anyway, e.g. that of
 * a timer. So an act moves no money that the machine would not have moved.
 */
export class OperatorActs {
  constructor(private readonly deps: OperatorActsDeps) {}

  /**
   * Does an act, after the audit log has it. A second request to cancel does nothing. Throws WeirError:
   * `invalid_request` if the kind has no such act; `conflict` if the actor is in another state than the
   * operator saw, or in one that does not allow the act; `service_unavailable`.
   */
  async perform(found: FoundActor, wanted: WantedAct): Promise<void> {
    const { act } = wanted;
    const { kind } = found.row ?? found.memory;
    if (!ACT_KINDS[act].includes(kind)) throw noSuchAct(act, kind);
    const snapshot = snapshotOfFound(found);
    if (act === 'cancel' && isCanceled(kind, snapshot)) return;
    const state = statePath(snapshot);
    if (state !== wanted.state) throw otherState(state);
    if (!mayAct(act, kind, snapshot)) throw notAllowed(act, kind, state);
    await this.note(found, wanted);
    if (act === 'reset') this.reset(found);
    else if (act === 'cancel') await this.cancel(found);
    else await this.retry(found, retryTimer(kind, snapshot) ?? '');
  }

  private note(found: FoundActor, { act, actor, state, reason }: WantedAct): Promise<void> {
    const { kind, id, organization_id } = found.row ?? found.memory;
    return noteChange(this.deps.sql, {
      ...{ organization_id, actor, action: `${kind}.${act}`, subject_id: id },
      ...{ before: { state }, after: reason === undefined ? null : { reason } },
    });
  }

  /** Fires the timer now. The transaction deletes the timer, so it does not fire a second time. */
  private async retry(found: FoundActor, name: string): Promise<void> {
    const { kind, id } = found.row ?? found.memory;
    const timer = await findTimer(this.deps.sql, { kind, id }, name);
    if (!timer) throw goneOn();
    const event = { ...(timer.event as { type: string }), by: BY_OPERATOR };
    const result = await this.deps.send({ kind, id, event, timer });
    if (result.type === 'fenced') {
      const message = 'This replica is not ready to serve requests.';
      throw new WeirError('service_unavailable', message, { retry_after: 2 });
    }
    if (result.type !== 'committed') throw goneOn();
  }

  private async cancel(found: FoundActor): Promise<void> {
    const { kind, id, organization_id } = found.row ?? found.memory;
    const { tasks, batches } = this.deps;
    const owner = organization_id ?? '';
    if (kind === 'task') await tasks.cancel(id, owner, BY_OPERATOR);
    else await batches.cancel(id, owner, BY_OPERATOR);
  }

  /** Resets the circuit on all replicas. A replica whose probe runs waits for its outcome instead. */
  private reset(found: FoundActor): void {
    const { id } = found.row ?? found.memory;
    const slash = id.indexOf('/');
    const [channel_id, model] = [id.slice(0, slash), id.slice(slash + 1)];
    this.deps.channels.find(channel_id, model)?.mend('operator');
    this.deps.announceReset(channel_id, model);
  }
}

const ACT_WORDS: Readonly<Record<Act, string>> = {
  ...{ retry: 'retried', cancel: 'canceled', reset: 'reset' },
};

const NOT_ALLOWED_HINTS: Readonly<Record<Act, string>> = {
  retry:
    'An actor can be retried while it waits for a timer. An effect that failed runs again by itself.',
  cancel: 'The actor has ended, or has a result already.',
  reset:
    'An open circuit can be reset, also one that refused credentials opened. POST /v1/operator/channels/{id}/enable enables a channel that an operator disabled.',
};

function noSuchAct(act: Act, kind: string): WeirError {
  return new WeirError('invalid_request', `A ${kind} cannot be ${ACT_WORDS[act]}.`, {
    param: 'kind',
    hint: `Use ${ACT_KINDS[act].join(' or ')}.`,
  });
}

function notAllowed(act: Act, kind: string, state: string): WeirError {
  const message = `The ${kind} cannot be ${ACT_WORDS[act]} in the state ${state}.`;
  return new WeirError('conflict', message, { param: 'id', hint: NOT_ALLOWED_HINTS[act] });
}

function otherState(state: string): WeirError {
  return new WeirError('conflict', `The actor is in the state ${state} now.`, {
    param: 'state',
    hint: 'Read the actor again. If you still want the act, send its state.',
  });
}

/** The timer fired, or another event came first. */
function goneOn(): WeirError {
  return new WeirError('conflict', 'The actor got another event at the same time.', {
    param: 'state',
    hint: 'Read the actor again. If you still want the act, send its state.',
  });
}
