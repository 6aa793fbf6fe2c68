import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { AlertRow } from '../../../db/alerts/alerts.ts';
import { usd } from '../../json/usd.ts';
import { wordsOf } from './words.ts';

const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };

/** An alert, as webhooks and routes have it. */
export const AlertRecordSchema = Type.Object(
  {
    object: Type.Literal('alert'),
    id: Type.String(),
    kind: Type.String(),
    severity: Type.Union([Type.Literal('problem'), Type.Literal('warning')]),
    subject: Type.Object({ kind: Type.String(), id: Type.String(), name: Type.String() }, closed),
    text: Type.String(),
    /** What to do. */
    act: Type.String(),
    /** What the text says, for programs. Amounts are in USD. */
    figures: Type.Record(Type.String(), Type.Unknown()),
    created_at: Type.String(),
    /** When a channel was up again; null while it is down, and for all other kinds. */
    ended_at: Nullable(Type.String()),
  },
  closed,
);

/** Returns an alert as webhooks and routes have it. */
export function alertRecord(row: AlertRow): Static<typeof AlertRecordSchema> {
  const { id, kind, subject_kind, subject_id, subject_name, created_at, ended_at } = row;
  const { severity, text, act } = wordsOf(row);
  return {
    ...{ object: 'alert', id, kind, severity },
    subject: { kind: subject_kind, id: subject_id, name: subject_name },
    ...{ text, act, figures: inUsd(row.figures) },
    created_at: created_at.toISOString(),
    ended_at: ended_at?.toISOString() ?? null,
  };
}

const NANO_USD = /_?nano_usd$/;

/** Returns figures with their amounts in USD: `used_nano_usd` becomes `used_usd`. */
function inUsd(figures: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) =>
      NANO_USD.test(name) && typeof value === 'number'
        ? [name.replace('nano_usd', 'usd'), usd(Math.round(value))]
        : [name, value],
    ),
  );
}
