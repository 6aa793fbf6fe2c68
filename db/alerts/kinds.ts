/** What an organization can be alerted to. */
export const ORGANIZATION_ALERTS = [
  'cap_used',
  'cap_forecast',
  'budget_used',
  'budget_forecast',
  'soft_limit_reached',
  'low_balance',
  'unusual_spend',
  'key_unused',
  'price_changed',
] as const;

/** What operators can be alerted to. */
export const OPERATOR_ALERTS = ['channel_down', 'price_changed'] as const;

/** What a rule can find. */
export type AlertKind = (typeof ORGANIZATION_ALERTS)[number] | (typeof OPERATOR_ALERTS)[number];

/** The kind of an alert that a request makes, to test an endpoint. No endpoint subscribes to it. */
export const TEST_KIND = 'test';

/** The owner of the operators' endpoints and alerts. Every other owner is the id of an organization. */
export const OPERATORS_OWNER = '';

/** The kinds to which the endpoints of an owner can subscribe. */
export const kindsFor = (owner_id: string): readonly AlertKind[] =>
  owner_id === OPERATORS_OWNER ? OPERATOR_ALERTS : ORGANIZATION_ALERTS;
