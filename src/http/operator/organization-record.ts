import { type TSchema, Type } from '@sinclair/typebox';
import type { AccountRow } from '../../../db/accounts/organizations.ts';
import { MAX_KEYS_PER_ORGANIZATION } from '../../../db/managed-keys.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { usd } from '../../json/usd.ts';
import { choiceParameter, nameParameter, PAGE_PARAMETERS } from '../management/list-query.ts';
import { NAME } from '../management/schema.ts';

const closed = { additionalProperties: false };
const NANO_PER_USD = 1_000_000_000;
const MAX_REQUESTS_PER_MINUTE = 10_000_000;
const MAX_REASON_CHARS = 500;
/** The most USD of one deposit, or of a credit line. */
const MAX_AMOUNT_USD = 1_000_000;
const MAX_REFERENCE_CHARS = 200;
const MAX_NOTE_CHARS = 500;
/** PostgreSQL's text type stores every character except NUL. */
const NO_NUL = '^[^\\u0000]*$';

const Nullable = <Schema extends TSchema>(schema: Schema, errorMessage: string) =>
  Type.Union([schema, Type.Null()], { errorMessage });
const text = (max: number) =>
  Type.String({
    ...{ minLength: 1, maxLength: max, pattern: NO_NUL },
    errorMessage: `must be a text of 1 to ${max} characters`,
  });

const terms = {
  role: Type.Optional(Type.String({ maxLength: 100, errorMessage: 'must be the name of a role' })),
  max_keys: Type.Optional(
    Nullable(
      Type.Integer({ minimum: 0, maximum: MAX_KEYS_PER_ORGANIZATION }),
      `must be null or a whole number from 0 to ${MAX_KEYS_PER_ORGANIZATION}`,
    ),
  ),
  requests_per_minute: Type.Optional(
    Nullable(
      Type.Integer({ minimum: 1, maximum: MAX_REQUESTS_PER_MINUTE }),
      `must be null or a whole number from 1 to ${MAX_REQUESTS_PER_MINUTE}`,
    ),
  ),
};

/** `GET /v1/operator/organizations`. `name` is a part of the name. */
export const ListOrganizationsSchema = Type.Object(
  {
    ...{
      status: choiceParameter(['active', 'suspended', 'closed'] as const),
      role: nameParameter(),
    },
    ...{ name: nameParameter(), ...PAGE_PARAMETERS },
  },
  closed,
);

/** `POST /v1/operator/organizations` */
export const CreateOrganizationSchema = Type.Object(
  {
    ...{ name: NAME, ...terms },
    /** True if the answer shall have a first management token with all rights. */
    management_token: Type.Optional(Type.Boolean({ errorMessage: 'must be true or false' })),
  },
  closed,
);

/** `PATCH /v1/operator/organizations/{id}` */
export const UpdateOrganizationSchema = Type.Object(
  { name: Type.Optional(NAME), ...terms },
  closed,
);

/** The body of the routes that change the status of an organization. */
export const StatusSchema = Type.Object({ reason: text(MAX_REASON_CHARS) }, closed);

const amount = (minimum: number, errorMessage: string) =>
  Type.Number({ minimum, maximum: MAX_AMOUNT_USD, errorMessage });

/** `POST …/deposits` */
export const DepositSchema = Type.Object(
  {
    amount: amount(1 / NANO_PER_USD, `must be a number above 0, at most ${MAX_AMOUNT_USD}`),
    reference: text(MAX_REFERENCE_CHARS),
    note: Type.Optional(
      Type.String({
        ...{ maxLength: MAX_NOTE_CHARS, pattern: NO_NUL },
        errorMessage: `must be a text of at most ${MAX_NOTE_CHARS} characters`,
      }),
    ),
  },
  closed,
);

/** `GET …/deposits` */
export const ListDepositsSchema = Type.Object(
  { ...PAGE_PARAMETERS, kind: choiceParameter(['payment', 'credit', 'credit_return'] as const) },
  closed,
);

/** `PATCH …/credit-line` */
export const CreditLineSchema = Type.Object(
  { amount: amount(0, `must be a number from 0 to ${MAX_AMOUNT_USD}`) },
  closed,
);

/** Returns an amount of a request in nano-USD. */
export const nanoUsd = (amount_usd: number): number => Math.round(amount_usd * NANO_PER_USD);

/** Throws WeirError if the configuration has no such role. */
export function requireRole(role: string | undefined, names: readonly string[]): void {
  if (role === undefined || names.includes(role)) return;
  throw new WeirError('invalid_request', 'There is no such role.', {
    param: 'role',
    hint: `Use one of ${names.join(', ')}; weir.yaml can add roles.`,
  });
}

/** Returns what an operator chose for an organization, i.e. what `PATCH` changes. */
export function termsOf({ name, role, max_keys, requests_per_minute }: AccountRow) {
  return { name, role, max_keys, requests_per_minute };
}

/** Returns the credit line of an organization, in USD. */
export function creditLineOf({ credit_limit, credit, available, held }: AccountRow) {
  return {
    amount: usd(credit_limit),
    /** What the organization owes: credit that is charged. */
    used: usd(Math.max(0, credit - available - held)),
    /** Credit above the line, which is taken back when money becomes free. */
    to_return: usd(Math.max(0, credit - credit_limit)),
  };
}

/** Returns what the audit log says of the status of an organization. */
export function statusMembers({ status, status_reason }: AccountRow) {
  return { status, status_reason };
}

/** Returns an organization as operators see it. */
export function organizationRecord(row: AccountRow): object {
  return {
    ...{ object: 'organization', id: row.id, ...termsOf(row), ...statusMembers(row) },
    status_changed_at: row.status_changed_at?.toISOString() ?? null,
    balance: {
      ...{ currency: 'USD', total_deposited: usd(row.deposited), available: usd(row.available) },
      ...{ held: usd(row.held), used: usd(row.used) },
    },
    credit_line: creditLineOf(row),
    created_at: row.created_at.toISOString(),
  };
}
