import type { Sql } from 'postgres';
import type { ActorAddress, DueTimer } from './store.ts';

/** Returns a timer of an actor, due or not; undefined if it is not set. */
export async function findTimer(
  sql: Sql,
  { kind, id }: ActorAddress,
  name: string,
): Promise<DueTimer | undefined> {
  const [timer] = await sql<DueTimer[]>`
    select kind, actor_id, name, generation, event from timer
    where kind = ${kind} and actor_id = ${id} and name = ${name}`;
  return timer;
}
