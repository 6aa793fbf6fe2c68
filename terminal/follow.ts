import {
  type LastPrinted,
  pathOf,
  printEvents,
  type ShownActor,
  type ShownEvent,
} from './events.ts';
import type { InspectClient, News } from './inspect-client.ts';
import type { Output } from './output.ts';
import { repeat } from './repeat.ts';

/** The event that sums the calls which a quota admitted without an event. */
const SUM_OF_CALLS = 'CALLS';

interface Followed {
  readonly client: InspectClient;
  readonly actor: ShownActor;
  readonly output: Output;
  readonly print: (event: ShownEvent) => void;
  /** The last event that was printed. */
  readonly last: LastPrinted;
}

/**
 * Prints each further event of an actor until the actor ends. The stream says that there is news; the
 * events are read from the actor's past, so none is lost when a connection breaks or the stream skips.
 */
export async function follow(followed: Followed): Promise<void> {
  const { client, actor, output } = followed;
  const query = { kind: actor.kind, id: actor.id, definitions: 'false' };
  let { last } = followed;
  await repeat(output, async (onAnswer) => {
    for await (const news of client.watch(query)) {
      if (isForOther(news, actor)) continue;
      if (isNews(news, last)) last = await printNews(followed, last);
      if (news.name === 'frame' ? news.hasEnded : !(await isLive(followed))) return true;
      onAnswer();
    }
    return false;
  });
}

/** Quotas and channels have one actor on each replica. Durable actors have one in all. */
function isForOther(news: News, { replicas, replica }: ShownActor): boolean {
  return news.name === 'frame' && replicas !== null && news.replica !== replica;
}

/** False if the event was printed already, because an earlier read had it. */
function isNews(news: News, last: LastPrinted): boolean {
  return news.name !== 'frame' || news.seq > last.seq || news.event === SUM_OF_CALLS;
}

function printNews({ client, actor, print }: Followed, last: LastPrinted) {
  // A sum of calls keeps its number when it grows.
  const after = last.type === SUM_OF_CALLS ? last.seq - 1 : last.seq;
  return printEvents(client, actor, after, print, last);
}

async function isLive({ client, actor }: Followed): Promise<boolean> {
  const query = actor.replicas === null ? {} : { replica: actor.replica ?? undefined };
  const { body } = await client.get<ShownActor>(pathOf(actor), query);
  return body.live;
}
