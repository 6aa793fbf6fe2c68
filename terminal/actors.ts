import type { ActorRecord } from '../src/inference/inspection/actor-record.ts';
import type { ActorsCommand } from './arguments.ts';
import type { InspectClient } from './inspect-client.ts';
import type { Output } from './output.ts';
import { age, tableLines } from './text.ts';

const MAX_PAGE = 100;

interface ActorList {
  readonly data: readonly ActorRecord[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
  readonly counts: readonly { kind: string; state: string; actors: number }[];
  readonly silent_replicas: number;
}

/** Lists actors. Throws RequestError. */
export async function listCommand(
  client: InspectClient,
  command: ActorsCommand,
  output: Output,
): Promise<void> {
  const { actors, has_more, first, now_ms } = await readActors(client, command);
  if (command.json) for (const actor of actors) output.line(JSON.stringify(actor));
  else if (actors.length === 0) output.note('There are no such actors.');
  else for (const line of tableLines(rowsOf(actors, now_ms, command.ended))) output.line(line);
  const { counts, silent_replicas } = first;
  const sums = counts.map(({ kind, state, actors: sum }) => `${sum} ${kind} ${state}`);
  if (sums.length > 0 && !command.json) output.note(sums.join(', '));
  if (has_more) output.note(`There are more actors. --limit ${command.limit * 10} shows more.`);
  if (silent_replicas > 0) {
    output.note(
      `${silent_replicas} replicas did not answer: their quotas and channels are missing.`,
    );
  }
}

/** Reads pages until there are enough actors, or until the next ones are too young. */
async function readActors(client: InspectClient, command: ActorsCommand) {
  const {
    machine: kind,
    state,
    organization,
    replica,
    ended,
    stuck,
    longer_than_ms,
    limit,
  } = command;
  const filter = {
    kind,
    state,
    organization_id: organization,
    replica,
    live: String(!ended),
    stuck: stuck ? 'true' : undefined,
  };
  const actors: ActorRecord[] = [];
  let cursor: string | undefined;
  let first: ActorList | undefined;
  for (;;) {
    const page = { ...filter, cursor, limit: Math.min(MAX_PAGE, limit - actors.length) };
    const { body, now_ms } = await client.get<ActorList>('/actors', page);
    first ??= body;
    // The longest in their state come first, so all actors after a young one are young.
    const isOldEnough = ({ since }: ActorRecord) =>
      longer_than_ms === undefined || now_ms - Date.parse(since) > longer_than_ms;
    const fitting = body.data.filter(isOldEnough);
    actors.push(...fitting);
    const has_more = body.has_more && fitting.length === body.data.length;
    if (!has_more || actors.length >= limit || body.next_cursor === null) {
      return { actors, has_more, first, now_ms };
    }
    cursor = body.next_cursor;
  }
}

function rowsOf(actors: readonly ActorRecord[], now_ms: number, ended: boolean): string[][] {
  const header = ['MACHINE', 'ID', 'STATE', ended ? 'ENDED' : 'FOR', 'ATTEMPT', 'NEXT', 'REPLICA'];
  return [
    [...header, 'SAYS'],
    ...actors.map(({ kind, id, state, since, attempt, next_at, replica, says }) => [
      ...[kind, id, state, age(now_ms - Date.parse(since)), attempt === null ? '' : `${attempt}`],
      ...[next_at === null ? '' : untilText(next_at, now_ms), replica ?? '', says],
    ]),
  ];
}

/** Returns when something happens next, seen from now. */
export function untilText(at: string, now_ms: number): string {
  const ms = Date.parse(at) - now_ms;
  return ms <= 0 ? 'now' : `in ${age(ms)}`;
}
