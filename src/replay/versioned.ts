import type { AnyStateMachine } from 'xstate';

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A machine, the version of its snapshots, and the conversion of earlier snapshots. */
export interface VersionedMachine {
  readonly machine: AnyStateMachine;
  /**
   * The version of stored snapshots and of the event log. Raise it with every change of the machine
   * that changes a state, an event, a guard, an action or the context
   * (test/machines/versions.json).
   */
  readonly version: number;
  /** Converts a stored snapshot of version `from` to this version. */
  readonly migrate?: (snapshot: Json, from: number) => Json;
  /** The machines of earlier versions. `replay` needs them for the events of these versions. */
  readonly earlier?: readonly VersionedMachine[];
}
