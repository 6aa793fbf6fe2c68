import { recordPrices } from '../../db/prices/prices.ts';
import { Reread } from '../actors/bus/reread.ts';
import { systemClock } from '../actors/clock.ts';
import { soldAt } from '../catalogue/recorded-price.ts';
import type { CurrentInstallation } from '../config/current-installation.ts';
import type { Databases } from './database.ts';

/**
 * Records the prices of this replica's catalogue, now and after each change of the configuration, so that
 * a later reader of a charge finds the price of that time. A failed attempt is repeated.
 */
export async function startPrices(
  live: CurrentInstallation,
  databases: Databases,
  onError: (error: unknown) => void,
): Promise<{ stop(): void }> {
  const { sql } = databases.background;
  const prices = new Reread({
    clock: systemClock,
    read: async () => void (await recordPrices(sql, live.now.catalogue.all().map(soldAt))),
    onError,
  });
  live.onChange(() => prices.request());
  // The error is reported, and the prices are recorded later.
  await prices.readNow().catch(() => undefined);
  return prices;
}
