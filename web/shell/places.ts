import type { Action } from '../../src/access/actions.ts';
import type { Here } from '../api/session.ts';

/** A page of the navigation. A person who may not do `needs` does not see it. */
export interface Place {
  readonly to: string;
  readonly title: string;
  /** The question that the page answers, for the search of ⌘K. */
  readonly says: string;
  readonly needs?: Action;
  /** True for a page of operators. */
  readonly forOperators?: true;
  /** The start of the paths of all its pages, if `to` is only the first of them. */
  readonly under?: string;
}

const PLACES: readonly (readonly Place[])[] = [
  [
    { to: '/', title: 'Overview', says: 'are we well, what do we spend', needs: 'usage.read' },
    {
      to: '/playground',
      title: 'Playground',
      says: 'try a model, what does it cost',
      needs: 'keys.use',
    },
    {
      to: '/models',
      title: 'Models',
      says: 'which model should I take, prices',
      needs: 'models.read',
    },
  ],
  [
    { to: '/keys', title: 'API keys', says: 'who may spend how much, caps', needs: 'keys.read' },
    { to: '/usage', title: 'Usage', says: 'where did the money go, requests', needs: 'usage.read' },
    { to: '/tasks', title: 'Tasks', says: 'where is my video, images, music', needs: 'tasks.read' },
    { to: '/batches', title: 'Batches', says: 'how far is it', needs: 'tasks.read' },
    {
      to: '/billing',
      title: 'Billing',
      says: 'does the bill add up, statements',
      needs: 'billing.read',
    },
    {
      to: '/cache',
      title: 'Cache',
      says: 'what does it save, hit rate, repeated calls',
      needs: 'usage.read',
    },
  ],
  [
    {
      to: '/alerts',
      title: 'Alerts',
      says: 'who receives alerts, webhooks and mails, caps, low balance',
      needs: 'alerts.read',
    },
    {
      to: '/access/people',
      under: '/access/',
      title: 'Access',
      says: 'members, tokens, own keys of providers, audit log',
      needs: 'people.read',
    },
    {
      to: '/actors',
      title: 'Actors',
      says: 'what is stuck, why, what happened, live states',
      needs: 'actors.read',
    },
    { to: '/machines', title: 'Machines', says: 'what may happen next, states, statecharts' },
    { to: '/docs', title: 'Docs', says: 'how to use and operate Weir' },
  ],
  [
    {
      to: '/welcome',
      title: 'Connect a provider',
      says: 'add a channel, provider key, first call, listen to calls',
      forOperators: true,
    },
  ],
];

/** The pages that a person may open, in groups. */
export function placesFor({ session, may }: Here): readonly (readonly Place[])[] {
  const mayOpen = ({ needs, forOperators }: Place) =>
    (needs === undefined || may(needs)) && (!forOperators || session.is_operator);
  return PLACES.map((places) => places.filter(mayOpen)).filter((places) => places.length > 0);
}
