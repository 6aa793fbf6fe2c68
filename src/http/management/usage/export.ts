import { Type } from '@sinclair/typebox';
import { lacking, readKept } from '../../../../db/records/kept.ts';
import { writeAsOf } from '../../../../db/usage/as-of.ts';
import { exportCharges } from '../../../../db/usage/export.ts';
import type { UsageRow } from '../../../../db/usage/lines.ts';
import type { Catalogue } from '../../../catalogue/catalogue.ts';
import { requestIdOf, withoutDashes } from '../../../errors/request-id.ts';
import { validator } from '../../../errors/validate.ts';
import { WeirError } from '../../../errors/weir-error.ts';
import type { Handler } from '../../endpoint.ts';
import { admitManager } from '../keys.ts';
import { OUTCOMES } from './calls.ts';
import { lineRecord, type UsageDeps } from './lines.ts';
import { asOf, FILTERS, filtersOf, oneOf, queryOf, querySchema } from './query.ts';

const FORMATS = ['csv', 'ndjson'] as const;
const TYPES = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' } as const;

/** `GET /v1/management/usage/export` */
export const ExportUsageSchema = querySchema({
  ...FILTERS,
  api_key_id: Type.Optional(Type.String({ maxLength: 100 })),
  /** Only calls of some outcomes are charged; of any other one the export is empty. */
  outcome: Type.Optional(oneOf(OUTCOMES)),
  /** A link of the dashboard names the organization of a person who is in several. */
  organization_id: Type.Optional(Type.String({ maxLength: 100 })),
  format: Type.Optional(
    Type.Union(
      FORMATS.map((name) => Type.Literal(name)),
      { errorMessage: `must be one of ${FORMATS.join(', ')}` },
    ),
  ),
});
const validate = validator(ExportUsageSchema);

/**
 * `GET /v1/management/usage/export`: all charges that the filters mean, the oldest first, as CSV or
 * as one JSON object a line. The answer is streamed, so it may have any length. The header
 * `x-weir-as-of` names the committed state that it has, and `x-weir-lines-since` the date from which on
 * all charges are in it, if retention removed earlier ones.
 */
export function exportUsage(deps: UsageDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const query = validate(queryOf(context.request));
    if (query.organization_id !== undefined && query.organization_id !== organization_id) {
      throw new WeirError('access_denied', 'The credential is not of this organization.', {
        param: 'organization_id',
      });
    }
    const catalogue = deps.catalogue();
    const filters = {
      ...filtersOf(query, organization_id, catalogue),
      key_id: query.api_key_id,
      outcome: query.outcome,
    };
    const sql = deps.usage();
    const as_of = await asOf(query, sql);
    const format = query.format === 'ndjson' ? 'ndjson' : 'csv';
    const since = lacking(filters.from, (await readKept(sql)).lines_since);
    const batches = exportCharges(sql, filters, as_of);
    context.server?.timeout(context.request, 0);
    return new Response(textOf(batches, format, catalogue), {
      headers: {
        'content-type': TYPES[format],
        'content-disposition': `attachment; filename="usage.${format}"`,
        'x-weir-as-of': writeAsOf(as_of),
        ...(since ? { 'x-weir-lines-since': since.toISOString() } : {}),
      },
    });
  };
}

/** The text of an export. The next batch is read when the client has taken the one before. */
function textOf(
  batches: AsyncGenerator<readonly UsageRow[]>,
  format: 'csv' | 'ndjson',
  catalogue: Catalogue,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const lineOf = (row: UsageRow) =>
    format === 'csv'
      ? csvLine(COLUMNS.map(([, value]) => value(row)))
      : `${JSON.stringify({ ...lineRecord(row, catalogue), amount_nano_usd: row.charged_nano_usd })}\n`;
  const head = format === 'csv' ? csvLine(COLUMNS.map(([name]) => name)) : '';
  return new ReadableStream<Uint8Array>(
    {
      start: (client) => {
        if (head !== '') client.enqueue(encoder.encode(head));
      },
      async pull(client) {
        const { done, value } = await batches.next();
        if (done) client.close();
        else client.enqueue(encoder.encode(value.map(lineOf).join('')));
      },
      async cancel() {
        await batches.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

const NANO_DIGITS = 9;

/** Returns nano-USD as USD with all nine digits: a sum over the column stays exact. */
function exactUsd(nano_usd: number): string {
  const digits = String(nano_usd).padStart(NANO_DIGITS + 1, '0');
  return `${digits.slice(0, -NANO_DIGITS)}.${digits.slice(-NANO_DIGITS)}`;
}

/** The columns of the CSV. */
const COLUMNS: readonly [name: string, value: (row: UsageRow) => string | number | null][] = [
  ['date', ({ at }) => at.toISOString()],
  ['settled_at', ({ settled_at }) => settled_at?.toISOString() ?? null],
  ['request_id', ({ request_id }) => requestIdOf(request_id)],
  [
    'billing_transaction_id',
    ({ billing_id }) => (billing_id === null ? null : `txn_${withoutDashes(billing_id)}`),
  ],
  ['api_key_id', ({ key_id }) => key_id],
  ['outcome', ({ outcome }) => outcome],
  ['scene', ({ scene }) => scene],
  ['logical_model', ({ model }) => model],
  ['model_vendor', ({ model_vendor }) => model_vendor],
  ['access_channel', ({ access_channel }) => access_channel],
  ['protocol', ({ protocol }) => protocol],
  ['program', ({ program }) => program],
  ['input_tokens', ({ input_tokens }) => input_tokens],
  ['cached_input_tokens', ({ cached_input_tokens }) => cached_input_tokens],
  ['cache_write_tokens', ({ cache_write_tokens }) => cache_write_tokens],
  ['output_tokens', ({ output_tokens }) => output_tokens],
  ['reasoning_tokens', ({ reasoning_tokens }) => reasoning_tokens],
  ['amount_usd', ({ charged_nano_usd }) => exactUsd(charged_nano_usd)],
  ['list_price_usd', (row) => exactUsd(row.list_nano_usd)],
  ['counted_usd', (row) => exactUsd(row.counted_nano_usd)],
  ['duration_ms', ({ ended_ms }) => ended_ms],
  ['user', ({ detail }) => detail?.end_user ?? null],
  ['task_id', ({ task_id }) => task_id],
  ['audio_tokens', ({ audio_tokens }) => audio_tokens],
  ['units', ({ detail }) => jsonText(detail?.units)],
  ['metadata', ({ detail }) => jsonText(detail?.tags)],
];

/** Returns a cell with several values as JSON; null if there are none. */
function jsonText(values: Readonly<Record<string, unknown>> | undefined): string | null {
  return values && Object.keys(values).length > 0 ? JSON.stringify(values) : null;
}

/** A spreadsheet runs a cell that begins like this as a formula (OWASP: CSV Injection). */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** Returns a line of CSV (RFC 4180). */
function csvLine(cells: readonly (string | number | null)[]): string {
  const texts = cells.map((cell) => {
    if (typeof cell !== 'string') return String(cell ?? '');
    const text = FORMULA.test(cell) ? `'${cell}` : cell;
    return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${texts.join()}\r\n`;
}
