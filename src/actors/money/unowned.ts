import type { Sql } from 'postgres';
import {
  findOpenGrants,
  findUnownedMoney,
  type OpenGrant,
  type UnownedMoney,
} from '../../../db/ledger/unowned.ts';
import type { Clock } from '../clock.ts';
import type { HeldGrant } from './grant.ts';
import type { Lane } from './lane.ts';

const UNOWNED_EVERY_MS = 30_000;
const UNKNOWN_GRANT = 'grant that no actor knows';

export interface UnownedWatchDeps {
  sql: Sql;
  clock: Clock;
  lane: Pick<Lane, 'submit'>;
  replica_id: () => string;
  /** The grants that the quota actors of this replica know. */
  known: () => readonly HeldGrant[];
  /** Called with the grants and holds that are wrong. There must never be any. */
  onFound: (found: UnownedMoney[]) => void;
  onError: (error: unknown) => void;
}

/**
 * Checks at intervals that all money that is set aside has a living owner, and that each quota actor
 * has the same sums as the row of its grant. A metric shows how many rows are wrong. It must always
 * be 0 (P16). An open grant that no actor knows is returned. Otherwise its key could get no new
 * grant.
 */
export class UnownedWatch {
  /** How many grants and holds were wrong in the last check; undefined before the second check. */
  unowned: number | undefined;
  private suspects: ReadonlySet<string> | undefined;
  private stopClock: () => void = () => undefined;
  private running: Promise<void> | undefined;

  constructor(private readonly deps: UnownedWatchDeps) {
    this.schedule();
  }

  /**
   * Checks now. A grant or hold counts as wrong only if two checks in a row find it, because a
   * command may run during one check.
   */
  async run(): Promise<void> {
    const { sql, known, replica_id } = this.deps;
    const before = known();
    const rows = await findOpenGrants(sql, replica_id());
    const found = [...compareGrants(before, rows, known()), ...(await findUnownedMoney(sql))];
    const { suspects } = this;
    this.suspects = new Set(found.map(nameOf));
    if (!suspects) return;
    const certain = found.filter((each) => suspects.has(nameOf(each)));
    this.unowned = certain.length;
    if (certain.length > 0) this.deps.onFound(certain);
    const lost = new Set(certain.filter(({ what }) => what === UNKNOWN_GRANT).map(({ id }) => id));
    await Promise.all(rows.filter(({ id }) => lost.has(id)).map((row) => this.returnGrant(row)));
  }

  async stop(): Promise<void> {
    this.stopClock();
    await this.running;
  }

  /**
   * Returns the unused money of a grant and closes the grant. If a charge changes the row first, the
   * ledger refuses the return, and the next check tries again.
   */
  private async returnGrant(row: OpenGrant): Promise<void> {
    await this.deps.lane.submit({
      type: 'RETURN',
      grant_id: row.id,
      key_id: row.key_id,
      organization_id: row.organization_id,
      expected_granted: row.granted_nano_usd,
      amount: row.granted_nano_usd - row.settled_nano_usd,
      recall_acked: 0,
      close: true,
    });
  }

  private schedule(): void {
    this.stopClock = this.deps.clock.after(UNOWNED_EVERY_MS, () => {
      this.running = this.run()
        .catch(this.deps.onError)
        .finally(() => this.schedule());
    });
  }
}

/**
 * Compares the open grants of a replica with what its quota actors knew before and after the rows
 * were read. An actor is compared only if it changed nothing in between.
 */
export function compareGrants(
  before: readonly HeldGrant[],
  rows: readonly OpenGrant[],
  after: readonly HeldGrant[],
): UnownedMoney[] {
  const earlier = new Map(before.map((each) => [each.grant_id, each]));
  const later = new Set(after.map(({ grant_id }) => grant_id));
  const open = new Map(rows.map((row) => [row.id, row]));
  const unknown = rows
    .filter(({ id }) => !earlier.has(id) && !later.has(id))
    .map((row) => ({
      what: UNKNOWN_GRANT,
      id: row.id,
      nano_usd: row.granted_nano_usd - row.settled_nano_usd,
    }));
  const different = after.flatMap((now) => {
    const then = earlier.get(now.grant_id);
    if (!then || then.busy || now.busy) return [];
    if (then.granted !== now.granted || then.settled !== now.settled) return [];
    const row = open.get(now.grant_id);
    const gap = (row?.granted_nano_usd ?? 0) - now.granted;
    const settled_gap = row ? row.settled_nano_usd - now.settled : 0;
    if (gap === 0 && settled_gap === 0) return [];
    return [
      { what: 'grant that differs from its actor', id: now.grant_id, nano_usd: gap || settled_gap },
    ];
  });
  return [...unknown, ...different];
}

const nameOf = ({ what, id }: UnownedMoney) => `${what} ${id}`;
