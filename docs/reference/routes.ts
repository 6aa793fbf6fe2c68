import { OPERATOR_ALERT_ROUTES, OWN_ALERT_ROUTES } from './alert-routes.ts';
import { CALL_ROUTES } from './call-routes.ts';
import { CALL_WORDS } from './call-words.ts';
import { GENERATION_ROUTES } from './generation-routes.ts';
import { ALL_ACTOR_ROUTES, OWN_ACTOR_ROUTES } from './inspect-routes.ts';
import { MANAGEMENT_REFERENCE } from './management-routes.ts';
import { MANAGEMENT_WORDS } from './management-words.ts';
import { OPERATOR_ACCESS_ROUTES } from './operator-access-routes.ts';
import { OPERATOR_ROUTES } from './operator-routes.ts';
import type { ReferencePage } from './route.ts';
import { INSTALLATION_ROUTES, SIGN_IN_ROUTES } from './sign-in-routes.ts';
import { USAGE_ROUTES } from './usage-routes.ts';

/** All routes of Weir, by the page that shows them. */
export const REFERENCE_PAGES: readonly ReferencePage[] = [
  {
    slug: 'calls',
    title: 'API: Models and calls',
    says: 'Chat, embeddings, speech, rerank and translation, with the SDKs of OpenAI, Anthropic and Google.',
    routes: CALL_ROUTES,
    words: CALL_WORDS,
  },
  {
    slug: 'generations',
    title: 'API: Images, videos, sounds, tasks',
    says: 'A generation is a task. A client polls the task, follows its events, or gets a webhook.',
    routes: GENERATION_ROUTES,
    words: CALL_WORDS,
  },
  {
    slug: 'management',
    title: 'API: An organization, its keys and people',
    says: 'With a management token, or with the session of a person.',
    routes: [...MANAGEMENT_REFERENCE, ...OWN_ALERT_ROUTES],
    words: MANAGEMENT_WORDS,
  },
  {
    slug: 'usage',
    title: 'API: Usage, billing, tasks of an organization',
    says: 'With a management token, or with the session of a person.',
    routes: [...USAGE_ROUTES, ...OWN_ACTOR_ROUTES],
    words: MANAGEMENT_WORDS,
  },
  {
    slug: 'operator',
    title: 'API: Operators',
    says: 'With an operator token, or with the session of an operator.',
    routes: [
      ...OPERATOR_ROUTES,
      ...ALL_ACTOR_ROUTES,
      ...OPERATOR_ACCESS_ROUTES,
      ...OPERATOR_ALERT_ROUTES,
    ],
    words: MANAGEMENT_WORDS,
  },
  {
    slug: 'sign-in',
    title: 'API: Sign-in',
    says: 'With these routes people sign in. Programs use keys and tokens instead.',
    routes: SIGN_IN_ROUTES,
    words: MANAGEMENT_WORDS,
  },
  {
    slug: 'installation',
    title: 'API: The installation',
    says: 'For load balancers, monitoring, and programs that read the reference.',
    routes: INSTALLATION_ROUTES,
    words: MANAGEMENT_WORDS,
  },
];
