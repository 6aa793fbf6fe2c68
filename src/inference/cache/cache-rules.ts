import type { Sql } from 'postgres';
import { type RulesRow, readRules } from '../../../db/cache/rules.ts';
import { Reread } from '../../actors/bus/reread.ts';
import type { Clock } from '../../actors/clock.ts';

export interface CacheRulesDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  /** Called when the rules of an organization may have changed. Must not throw. */
  readonly onChanged: (organization_id: string) => void;
  readonly onError: (error: unknown) => void;
}

/** The rules of an organization that has some. */
interface OrganizationRules {
  readonly generations: Readonly<Record<string, number>>;
  /** The requests whose answers were removed. */
  readonly removed: ReadonlySet<string>;
}

/**
 * Which stored answers must not be sent again: those that an organization purged, and those that votes
 * removed. The rows are the truth. Each replica has them in memory, and reads them again when the bus
 * says that they changed, or that a message may be lost.
 */
export class CacheRules {
  private known = new Map<string, OrganizationRules>();
  /** The organizations whose rows must be read; null = all. */
  private changed: Set<string> | null = null;
  private readonly rows: Reread;

  constructor(private readonly deps: CacheRulesDeps) {
    const { clock, onError } = deps;
    this.rows = new Reread({ clock, onError, read: () => this.read() });
  }

  /** Reads the rules of all organizations. Resolves when they are known. */
  start(): Promise<void> {
    this.changed = null;
    return this.rows.readNow();
  }

  /** Reads the rules of an organization again. Resolves when this replica obeys them. */
  onChanged(organization_id: string): Promise<void> {
    this.changed?.add(organization_id);
    return this.rows.readNow();
  }

  /** Reads all rules again, because messages may be lost. */
  onGap(): void {
    this.changed = null;
    this.rows.request();
  }

  /** Returns a text that changes when the entries of a model are purged; '' if they never were. */
  generationOf(organization_id: string, model_id: string): string {
    const rules = this.known.size === 0 ? undefined : this.known.get(organization_id);
    if (!rules) return '';
    const { '': all = 0, [model_id]: one = 0 } = rules.generations;
    return all + one === 0 ? '' : `${all}/${one}`;
  }

  /** True if the answer of a request was removed. `request_id` is a UUID. */
  isRemoved(organization_id: string, request_id: string): boolean {
    if (this.known.size === 0) return false;
    return this.known.get(organization_id)?.removed.has(request_id) === true;
  }

  stop(): void {
    this.rows.stop();
  }

  private async read(): Promise<void> {
    const { changed } = this;
    this.changed = new Set();
    try {
      if (changed === null) this.replace(await readRules(this.deps.sql, null));
      else await this.readEach(changed);
    } catch (error) {
      this.changed = merged(changed, this.changed);
      throw error;
    }
  }

  private replace(rows: readonly RulesRow[]): void {
    const earlier = this.known;
    this.known = new Map(rows.map((row) => [row.organization_id, rulesOf(row)]));
    for (const organization_id of new Set([...earlier.keys(), ...this.known.keys()])) {
      this.deps.onChanged(organization_id);
    }
  }

  private async readEach(organization_ids: ReadonlySet<string>): Promise<void> {
    for (const organization_id of organization_ids) {
      const [row] = await readRules(this.deps.sql, organization_id);
      if (row) this.known.set(organization_id, rulesOf(row));
      else this.known.delete(organization_id);
      this.deps.onChanged(organization_id);
    }
  }
}

const rulesOf = ({ generations, removed }: RulesRow): OrganizationRules => ({
  generations,
  removed: new Set(removed),
});

/** Both sets of organizations; null = all. */
function merged(one: Set<string> | null, other: Set<string> | null): Set<string> | null {
  return one === null || other === null ? null : one.union(other);
}
