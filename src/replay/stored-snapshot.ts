import type { AnyMachineSnapshot } from 'xstate';
import type { Json, VersionedMachine } from './versioned.ts';

/** Returns the part of a snapshot that is stored. It is plain JSON. */
export function storedSnapshot({ value, context }: AnyMachineSnapshot): Json {
  return { value, context } as unknown as Json;
}

/**
 * Returns the snapshot of a row, for the machine of this version. A snapshot of an earlier version
 * is converted first (`migrate`).
 */
export function restoreSnapshot(
  { machine, version, migrate }: VersionedMachine,
  row: { readonly snapshot: Json; readonly machine_version: number },
): AnyMachineSnapshot {
  const current =
    row.machine_version === version || !migrate
      ? row.snapshot
      : migrate(row.snapshot, row.machine_version);
  const { value, context } = current as unknown as Pick<AnyMachineSnapshot, 'value' | 'context'>;
  return machine.resolveState({ value, context }) as AnyMachineSnapshot;
}
