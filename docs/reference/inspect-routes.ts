import { InspectedActorSchema, ListInspectedSchema } from '../../src/http/inspect/actors.ts';
import { ActSchema } from '../../src/http/inspect/acts.ts';
import { CallsInFlightSchema } from '../../src/http/inspect/calls.ts';
import { ListActorEventsSchema } from '../../src/http/inspect/history.ts';
import { WatchActorsSchema } from '../../src/http/inspect/stream.ts';
import type { ReferenceRoute } from './route.ts';

const WORDS = {
  replica: 'The replica of a quota or a channel, which have one actor on each.',
};

/** The routes that show actors, of one interface. */
function inspectRoutes(caller: 'organization' | 'operator', prefix: string): ReferenceRoute[] {
  const route = (path: string, says: string): ReferenceRoute => ({
    ...{ method: 'GET', path: `${prefix}/inspect${path}`, says, caller, words: WORDS },
  });
  return [
    route('/machines', 'Lists the machine of each kind of actor, with its earlier versions.'),
    {
      ...route('/calls', 'Lists the calls that run now, or that ran at an instant.'),
      query: CallsInFlightSchema,
      words: {
        at: 'An RFC 3339 datetime in the past. The calls are rebuilt from the times in their records.',
      },
      more: 'What is shown: [calls as a river](../operations.md#calls-as-a-river).',
    },
    {
      ...route('/actors', 'Lists the actors of all replicas, the longest in their state first.'),
      query: ListInspectedSchema,
      words: {
        kind: 'Only actors of this kind.',
        id: 'Only the actor with this id.',
        state: 'Only actors in this state, or in a state inside of it.',
        live: 'False: actors that have ended, the latest first.',
        stuck:
          'True: only living actors that are longer in the first part of their state than is usual.',
        replica: 'Only actors of this replica; for operators.',
        organization_id: 'Only actors of this organization; for operators.',
      },
      more: 'Kinds, states and what is shown: [inspecting actors](../operations.md#inspecting-actors).',
    },
    {
      ...route('/actors/{kind}/{id}', 'Shows an actor: its snapshot, and what it waits for.'),
      query: InspectedActorSchema,
    },
    {
      ...route('/actors/{kind}/{id}/events', 'Lists the events of an actor, the oldest first.'),
      query: ListActorEventsSchema,
      words: {
        ...WORDS,
        after: 'The number of the last event of the page before.',
        limit: 'The most events, 1 to 1,000; 100 by default.',
      },
    },
    {
      ...route(
        '/actors/{kind}/{id}/events/{seq}',
        'Shows an actor after one event, replayed and compared with the stored hash.',
      ),
      query: InspectedActorSchema,
    },
    {
      ...route('/actors/{kind}/{id}/recording', 'Returns an actor with its events as one file.'),
      query: InspectedActorSchema,
    },
    route(
      '/requests/{id}/recording',
      'Returns a request and the actors that it touched as one file.',
    ),
    {
      ...route('/events', 'Sends the events of all actors as they happen, as server-sent events.'),
      ...{ query: WatchActorsSchema, headers: ['Last-Event-ID'], answer: 'text/event-stream' },
      words: {
        kind: 'Only actors of this kind.',
        id: 'Only the actor with this id.',
        organization_id: 'Only actors of this organization; for operators.',
        definitions: 'False: the frames of new actors have no machine.',
      },
      more: 'The frames: [watching actors](../operations.md#watching-actors).',
    },
  ];
}

/** The routes that show an organization its own actors. */
export const OWN_ACTOR_ROUTES = inspectRoutes('organization', '/v1/management');

const act = (name: string, says: string): ReferenceRoute => ({
  ...{ method: 'POST', path: `/v1/operator/inspect/actors/{kind}/{id}/${name}`, says },
  ...{ caller: 'operator', query: InspectedActorSchema, body: ActSchema },
  words: {
    ...WORDS,
    state: 'The state in which you saw the actor. In another state, nothing is done.',
    reason: 'Why; on record in the audit log.',
  },
  more: 'Which states allow it: [acts on actors](../operations.md#acts-on-actors).',
});

/** The routes that show operators all actors, and act on them. */
export const ALL_ACTOR_ROUTES: readonly ReferenceRoute[] = [
  ...inspectRoutes('operator', '/v1/operator'),
  act('retry', 'Lets a waiting task or webhook go on now instead of at its next time.'),
  act('cancel', 'Requests the end of a task or a batch.'),
  act('reset', 'Lets an open circuit take calls again, on all replicas.'),
];
