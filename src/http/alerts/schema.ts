import { type TObject, Type } from '@sinclair/typebox';
import {
  type AlertKind,
  OPERATOR_ALERTS,
  ORGANIZATION_ALERTS,
  TEST_KIND,
} from '../../../db/alerts/kinds.ts';
import { DELIVERY_STATES } from '../management/delivery-record.ts';
import { choiceParameter, nameParameter, PAGE_PARAMETERS } from '../management/list-query.ts';
import { NAME } from '../management/schema.ts';
import { EMAIL } from '../sign-in/schema.ts';

const closed = { additionalProperties: false };
const MAX_URL_CHARS = 2_048;
/** The most USD of a balance that can be called low. */
const MAX_LOW_USD = 1_000_000;

const kindsField = (kinds: readonly AlertKind[]) =>
  Type.Array(
    Type.Unsafe<AlertKind>(
      Type.Union(
        kinds.map((kind) => Type.Literal(kind)),
        { errorMessage: `must be one of ${kinds.join(', ')}` },
      ),
    ),
    {
      minItems: 1,
      maxItems: kinds.length,
      uniqueItems: true,
      errorMessage: 'must have each kind once',
    },
  );
const url = Type.String({
  maxLength: MAX_URL_CHARS,
  errorMessage: `must be a URL of at most ${MAX_URL_CHARS} characters`,
});
const enabled = Type.Boolean({ errorMessage: 'must be true or false' });
const type = Type.Unsafe<'webhook' | 'mail'>(
  Type.Union([Type.Literal('webhook'), Type.Literal('mail')], {
    errorMessage: 'must be webhook or mail',
  }),
);

const createSchema = (kinds: readonly AlertKind[]) =>
  Type.Object(
    {
      name: NAME,
      type,
      url: Type.Optional(url),
      email: Type.Optional(EMAIL),
      kinds: Type.Optional(kindsField(kinds)),
      enabled: Type.Optional(enabled),
    },
    closed,
  );
const updateSchema = (kinds: readonly AlertKind[]) =>
  Type.Partial(
    Type.Object({ name: NAME, url, email: EMAIL, kinds: kindsField(kinds), enabled }, closed),
    closed,
  );
const listAlertsSchema = (kinds: readonly AlertKind[]) =>
  Type.Object(
    { kind: choiceParameter(kinds), subject_id: nameParameter(), ...PAGE_PARAMETERS },
    closed,
  );
const listDeliveriesSchema = (kinds: readonly AlertKind[]) =>
  Type.Object(
    {
      state: choiceParameter(DELIVERY_STATES),
      kind: choiceParameter([...kinds, TEST_KIND]),
      endpoint_id: nameParameter(),
      alert_id: nameParameter(),
      ...PAGE_PARAMETERS,
    },
    closed,
  );

/** The schemas of the routes of one kind of owner. */
const schemasFor = (kinds: readonly AlertKind[]) => ({
  /** `POST …/alert-endpoints` */
  create: createSchema(kinds),
  /** `PATCH …/alert-endpoints/{id}` */
  update: updateSchema(kinds),
  /** `GET …/alerts` */
  alerts: listAlertsSchema(kinds),
  /** `GET …/alert-deliveries` */
  deliveries: listDeliveriesSchema(kinds),
});

/** The schemas of the routes of one kind of owner. */
export type AlertSchemas = ReturnType<typeof schemasFor>;
export const ORGANIZATION_SCHEMAS: AlertSchemas = schemasFor(ORGANIZATION_ALERTS);
export const OPERATOR_SCHEMAS: AlertSchemas = schemasFor(OPERATOR_ALERTS);

/** `GET …/alert-endpoints` */
export const ListEndpointsSchema: TObject<typeof PAGE_PARAMETERS> = Type.Object(
  PAGE_PARAMETERS,
  closed,
);

/** `PATCH /v1/management/alert-settings` */
export const UpdateAlertSettingsSchema = Type.Partial(
  Type.Object(
    {
      low_balance_usd: Type.Union(
        [Type.Number({ minimum: 0, maximum: MAX_LOW_USD }), Type.Null()],
        {
          errorMessage: `must be null or a number from 0 to ${MAX_LOW_USD}`,
        },
      ),
      unused_days: Type.Integer({
        ...{ minimum: 1, maximum: 365, errorMessage: 'must be a whole number from 1 to 365' },
      }),
      unusual_factor: Type.Number({
        ...{ minimum: 1.5, maximum: 100, errorMessage: 'must be a number from 1.5 to 100' },
      }),
    },
    closed,
  ),
  closed,
);
