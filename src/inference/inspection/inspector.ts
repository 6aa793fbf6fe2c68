import type { Sql } from 'postgres';
import {
  type ActorFilter,
  type ActorPlace,
  comparePlaces,
  countActors,
  findActor,
  type InspectedActor,
  type ListedActor,
  listActors,
  readWaits,
  type StateCount,
} from '../../../db/actors/inspection.ts';
import type { ActorAddress } from '../../../db/actors/store.ts';
import { MACHINES } from '../../replay/machines.ts';
import { USUAL_MS } from '../../replay/usual.ts';
import { type ActorRecord, durableRecord, memoryRecord } from './actor-record.ts';
import { isDurable, isInMemory } from './kinds.ts';
import type { ListedMemoryActor, MemoryActor, MemoryActors, MemoryPage } from './memory-actors.ts';
import type { Questions } from './questions.ts';
import type { Viewer } from './viewer.ts';

/** The final states of each kind. */
const FINAL_STATES = Object.fromEntries(
  Object.entries(MACHINES).map(([kind, { machine }]) => [
    kind,
    Object.values(machine.states).flatMap(({ key, type }) => (type === 'final' ? [key] : [])),
  ]),
);

/** Which actors a list has. A missing member means all. */
export interface InspectFilter {
  readonly kind?: string | undefined;
  readonly state?: string | undefined;
  readonly id?: string | undefined;
  readonly organization_id?: string | undefined;
  readonly replica?: string | undefined;
  readonly live: boolean;
  /** Only actors that are longer in their state than is usual. */
  readonly stuck: boolean;
}

/** One page of actors of all replicas. */
export interface ActorPage {
  readonly rows: readonly ActorRecord[];
  readonly last: ActorPlace | undefined;
  readonly has_more: boolean;
  readonly counts: readonly StateCount[];
  /** Replicas that did not answer in time. Their quotas and channels are missing. */
  readonly silent_replicas: number;
}

/** An actor that was found: a row, or an actor in the memory of a replica. */
export type FoundActor =
  | { readonly row: InspectedActor; readonly memory?: undefined }
  | {
      readonly row?: undefined;
      readonly memory: MemoryActor;
      /** All replicas that have an actor with this id. */
      readonly replicas: readonly string[];
    };

export interface InspectorDeps {
  readonly sql: Sql;
  readonly memory: MemoryActors;
  readonly questions: () => Pick<Questions, 'ask'>;
}

/** Finds actors: durable ones in their rows, the others in the memory of all replicas. */
export class Inspector {
  constructor(private readonly deps: InspectorDeps) {}

  get sql(): Sql {
    return this.deps.sql;
  }

  /** Lists actors. Living ones come in the order in which they entered their state, the oldest first. */
  async list(
    viewer: Viewer,
    wanted: InspectFilter,
    limit: number,
    after: ActorPlace | undefined,
  ): Promise<ActorPage> {
    const kinds = viewer.kinds.filter((kind) => wanted.kind === undefined || kind === wanted.kind);
    const { stuck, ...named } = wanted;
    const filter = {
      ...named,
      organization_id: viewer.organization_id ?? wanted.organization_id,
      longer_than_ms: stuck ? USUAL_MS : undefined,
    };
    const [durable, memory] = await Promise.all([
      this.listRows({ ...filter, kinds: kinds.filter(isDurable) }, limit + 1, after),
      this.listMemory({ ...filter, kinds: kinds.filter(isInMemory) }, limit + 1, after),
    ]);
    const merged = [...durable.rows, ...memory.rows]
      .toSorted((a, b) => comparePlaces(a, b, filter.live))
      .slice(0, limit);
    const has_more = durable.rows.length + memory.rows.length > limit;
    return {
      rows: await this.recordsOf(viewer, merged),
      ...{ last: merged.at(-1), has_more },
      counts: [...durable.counts, ...memory.counts],
      silent_replicas: memory.silent,
    };
  }

  /**
   * Finds an actor. Undefined if there is none, or if the viewer may not see it. Without `replica`, an
   * actor in memory is that of the first replica that has one.
   */
  async find(
    viewer: Viewer,
    address: ActorAddress,
    replica: string | undefined,
  ): Promise<FoundActor | undefined> {
    const found = await this.findAll(viewer, address);
    return found.find(
      ({ memory }) =>
        !memory || replica === undefined || viewer.replica(memory.replica) === replica,
    );
  }

  /** Finds an actor, or all actors of this id in the memory of the replicas. */
  async findAll(viewer: Viewer, { kind, id }: ActorAddress): Promise<FoundActor[]> {
    const { organization_id, kinds } = viewer;
    if (!kinds.includes(kind)) return [];
    if (isDurable(kind)) {
      const row = await findActor(this.deps.sql, { kind, id }, organization_id);
      return row ? [{ row }] : [];
    }
    const own = this.deps.memory.read(kind, id);
    const question = { type: 'read', kind, id };
    const { answers } = await this.deps.questions().ask<MemoryActor | null>(question);
    const found = [own ?? null, ...answers]
      .filter((actor) => actor !== null)
      .filter((actor) => organization_id === null || actor.organization_id === organization_id)
      .toSorted((one, other) => (one.replica < other.replica ? -1 : 1));
    const replicas = found.map(({ replica }) => replica);
    return found.map((memory) => ({ memory, replicas }));
  }

  /** Answers the question of another replica. */
  answer(question: Record<string, unknown>): unknown {
    const { memory } = this.deps;
    const { type, kind, id, filter, limit, after } = question;
    if (type === 'read') return memory.read(String(kind), String(id)) ?? null;
    if (type !== 'list') return null;
    return memory.list(filter as ActorFilter, Number(limit), after as ActorPlace | undefined);
  }

  private async listRows(filter: ActorFilter, limit: number, after: ActorPlace | undefined) {
    const { sql } = this.deps;
    if (filter.kinds.length === 0) return { rows: [], counts: [] };
    const [rows, counts] = await Promise.all([
      listActors(sql, { ...filter, final_states: FINAL_STATES }, limit, after),
      filter.live ? countActors(sql, filter) : [],
    ]);
    return { rows, counts };
  }

  private async listMemory(filter: ActorFilter, limit: number, after: ActorPlace | undefined) {
    if (filter.kinds.length === 0 || !filter.live) return { rows: [], counts: [], silent: 0 };
    const own = this.deps.memory.list(filter, limit, after);
    const question = { type: 'list', filter, limit, ...(after ? { after } : {}) };
    const { answers, silent } = await this.deps.questions().ask<MemoryPage>(question);
    const pages = [own, ...answers];
    const counts = new Map<string, StateCount>();
    for (const { kind, state, actors } of pages.flatMap((page) => page.counts)) {
      const name = `${kind} ${state}`;
      counts.set(name, { kind, state, actors: (counts.get(name)?.actors ?? 0) + actors });
    }
    const sorted = [...counts.keys()].sort().flatMap((name) => counts.get(name) ?? []);
    return { rows: pages.flatMap((page) => page.rows), counts: sorted, silent };
  }

  /** The records of a page; `readWaits` is one query for all durable actors of the page. */
  private async recordsOf(
    viewer: Viewer,
    page: readonly (ListedActor | ListedMemoryActor)[],
  ): Promise<ActorRecord[]> {
    const waits = await readWaits(
      this.deps.sql,
      page.filter(({ kind }) => isDurable(kind)),
    );
    const byName = new Map(waits.map((each) => [`${each.kind}/${each.id}`, each]));
    return page.map((actor) =>
      'context' in actor
        ? memoryRecord(viewer, actor)
        : durableRecord(viewer, actor, byName.get(`${actor.kind}/${actor.id}`)),
    );
  }
}
