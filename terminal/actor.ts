import { untilText } from './actors.ts';
import { type ActorCommand, splitId } from './arguments.ts';
import { pathOf, printEvents, type ShownActor, type ShownEvent } from './events.ts';
import { follow } from './follow.ts';
import { type InspectClient, RequestError } from './inspect-client.ts';
import type { Output } from './output.ts';
import { age, dollars, printable, tableLines } from './text.ts';

const NOT_FOUND = 404;
/** Shows one actor and its events, and if wanted each further event. Throws RequestError. */
export async function actorCommand(
  client: InspectClient,
  command: ActorCommand,
  output: Output,
): Promise<void> {
  const { actor, now_ms } = await findActor(client, command);
  const { json } = command;
  if (json) output.line(JSON.stringify(actor));
  else for (const line of actorLines(actor, now_ms)) output.line(line);
  const after = Math.max(actor.first_seq - 1, actor.seq - command.events);
  const print = (event: ShownEvent) => output.line(json ? JSON.stringify(event) : eventLine(event));
  const last = await printEvents(client, actor, after, print);
  if (command.follow && actor.live) {
    await follow({ client, actor, output, print, last });
  }
}

/** Finds the actor of an id. Without a machine, all machines are asked. Throws RequestError. */
async function findActor(client: InspectClient, command: ActorCommand) {
  const { machine, id } = splitId(command.id);
  const machines = command.machine ?? machine;
  const wanted = command.machine === undefined ? id : command.id;
  const kinds =
    machines === undefined ? ['task', 'batch', 'webhook', 'quota', 'channel'] : [machines];
  let missing: RequestError | undefined;
  // A webhook has the id of its task. The task comes first.
  for (const kind of kinds) {
    try {
      const path = pathOf({ kind, id: wanted });
      const { body, now_ms } = await client.get<ShownActor>(path, { replica: command.replica });
      return { actor: body, now_ms };
    } catch (error) {
      if (!(error instanceof RequestError) || error.status !== NOT_FOUND) throw error;
      missing = error;
    }
  }
  throw missing ?? new RequestError('There is no such actor.', NOT_FOUND);
}

function actorLines(actor: ShownActor, now_ms: number): string[] {
  const { kind, id, state, since, says, attempt, next_at, deadline_at, live, money } = actor;
  const rows: (readonly [string, string | null])[] = [
    ['actor', `${kind}/${id}`],
    ['state', `${state}, for ${age(now_ms - Date.parse(since))}`],
    ['says', says],
    ['attempt', attempt === null ? null : String(attempt)],
    ['next', next_at === null ? null : `${untilText(next_at, now_ms)} (${next_at})`],
    [
      'deadline',
      deadline_at === null ? null : `${untilText(deadline_at, now_ms)} (${deadline_at})`,
    ],
    ['timers', actor.timers.map(({ name, fires_at }) => `${name} ${fires_at}`).join(', ')],
    ['effects', actor.effects.map(({ name }) => name).join(', ')],
    ['takes', live ? actor.next_events.join(', ') : null],
    ['organization', actor.organization_id],
    ['replica', actor.replica],
    ['context', JSON.stringify(actor.context)],
    ['money', money === null ? null : moneyText(money)],
  ];
  const shown = rows.flatMap(([name, text]) => (text ? [[name, text]] : []));
  return [...tableLines(shown), ''];
}

/** Returns the sums of an actor's or an event's money that are not 0. */
function moneyText(money: object): string {
  return Object.entries(money as Record<string, number>)
    .filter(([, nano]) => nano !== 0)
    .map(([name, nano]) => `${name.replace('_nano_usd', '')} ${dollars(nano)}`)
    .join(', ');
}

function eventLine(event: ShownEvent): string {
  const { type, ...members } = event.event as { type: string } & Record<string, unknown>;
  const cause = event.request_id ?? event.task_id ?? event.cause;
  const parts = [
    ...[String(event.seq).padStart(4), event.at, type],
    event.from === event.to ? `(${event.to})` : `${event.from} -> ${event.to}`,
    ...(event.taken ? [] : ['not taken']),
    ...(event.money ? [moneyText(event.money)] : []),
    ...(Object.keys(members).length > 0 ? [JSON.stringify(members)] : []),
    ...(cause === null ? [] : [`by ${cause}`]),
  ];
  return printable(parts.filter((part) => part !== '').join('  '));
}
