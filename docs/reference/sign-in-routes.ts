import { Type } from '@sinclair/typebox';
import {
  LinkUseSchema,
  NothingSchema,
  PasswordResetSchema,
  PasswordSchema,
  SignInSchema,
} from '../../src/http/sign-in/schema.ts';
import type { Caller, ReferenceRoute } from './route.ts';

const route = (
  method: ReferenceRoute['method'],
  path: string,
  says: string,
  caller: Caller = 'anybody',
): ReferenceRoute => ({
  ...{ method, path: `/v1/auth${path}`, says, caller },
});

/** The routes with which people sign in and out. */
export const SIGN_IN_ROUTES: readonly ReferenceRoute[] = [
  route('GET', '/methods', 'Says how people may sign in here.'),
  {
    ...route(
      'POST',
      '/sign-in',
      'Signs a person in with a password, and sets the cookie of a session.',
    ),
    body: SignInSchema,
    more: 'Sessions and passwords: [people](../operations.md#people).',
  },
  route(
    'GET',
    '/session',
    'Shows who is signed in, with the organizations of the person.',
    'session',
  ),
  {
    ...route('POST', '/sign-out', 'Ends the session.', 'session'),
    ...{ body: NothingSchema, body_optional: true },
  },
  {
    ...route(
      'POST',
      '/password',
      'Changes the password, and ends the other sessions of the person.',
      'session',
    ),
    body: PasswordSchema,
  },
  {
    ...route(
      'POST',
      '/password-reset',
      'Mails a link for a new password, if the address has an account.',
    ),
    body: PasswordResetSchema,
  },
  route('GET', '/links/{link}', 'Shows what a one-time link is for, without using it up.', 'link'),
  {
    ...route(
      'POST',
      '/links/{link}',
      'Uses a one-time link: accepts an invitation, or sets a new password.',
      'link',
    ),
    body: LinkUseSchema,
  },
  {
    ...route('GET', '/oidc/start', 'Sends the browser to the identity provider.'),
    plain: [{ name: 'return_to', schema: Type.String({ maxLength: 2_000 }) }],
    more: 'How to set one up: [an identity provider](../operations.md#an-identity-provider).',
  },
  {
    ...route(
      'GET',
      '/oidc/callback',
      'Signs a person in who comes back from the identity provider.',
    ),
    plain: [
      { name: 'code', schema: Type.String() },
      { name: 'state', schema: Type.String() },
      { name: 'error', schema: Type.String() },
    ],
    words: { state: 'The identity provider sends it back.' },
  },
];

/** The routes of the installation itself. */
export const INSTALLATION_ROUTES: readonly ReferenceRoute[] = [
  {
    ...{ method: 'GET', path: '/healthz', caller: 'anybody' },
    says: 'Answers 200 while the process runs.',
  },
  {
    ...{ method: 'GET', path: '/readyz', caller: 'anybody' },
    says: 'Answers 200 while the replica can serve requests, else 503.',
  },
  {
    ...{ method: 'GET', path: '/metrics', caller: 'monitor', answer: 'text/plain' },
    says: 'Shows the metrics of the replica in the text format of Prometheus.',
    more: 'The metrics: [metrics](../operations.md#metrics).',
  },
  {
    ...{ method: 'GET', path: '/openapi.json', caller: 'anybody' },
    says: 'Returns this reference as an OpenAPI 3.1 document.',
  },
  {
    ...{ method: 'GET', path: '/assets/{name}', caller: 'anybody', answer: '*/*' },
    says: 'Returns a file of the dashboard.',
  },
];
