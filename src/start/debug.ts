import type { Bus } from '../actors/bus/bus.ts';
import { systemClock, systemIdSource } from '../actors/clock.ts';
import { DebugWindows } from '../inference/debug/debug-windows.ts';
import type { Databases } from './database.ts';

/**
 * Reads the open debug windows, and follows those that other replicas open and close. `key` encrypts
 * the copies.
 */
export async function startDebug(
  bus: Bus,
  databases: Databases,
  key: Uint8Array,
  onError: (error: unknown) => void,
): Promise<DebugWindows> {
  const debug = new DebugWindows({
    background: databases.background.sql,
    requests: databases.requests.sql,
    clock: systemClock,
    ids: systemIdSource,
    key,
    announce: (organization_id) => bus.publish('debug', { organization_id }),
    onError,
  });
  bus.subscribe('debug', {
    onMessage: () => debug.onChanged(),
    onGap: () => debug.onChanged(),
  });
  await debug.start();
  return debug;
}
