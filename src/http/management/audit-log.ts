import { type Static, Type } from '@sinclair/typebox';
import type { Sql } from 'postgres';
import type { AuditLine } from '../../../db/audit/entry.ts';
import { type AuditFilter, readAudit } from '../../../db/audit/log.ts';
import { verifyAudit } from '../../../db/audit/verify.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { readDateRange } from './list-dates.ts';
import { nameParameter, PAGE_PARAMETERS, readQuery } from './list-query.ts';

/** Lines that an export reads at once. */
const BATCH = 1_000;
const DEFAULT_LIMIT = 50;
const CURSOR = /^\d{1,15}$/;

const FILTERS = {
  action: nameParameter(),
  subject_id: nameParameter(),
  actor_id: nameParameter(),
  startDate: PAGE_PARAMETERS.startDate,
  endDate: PAGE_PARAMETERS.endDate,
};
const closed = { additionalProperties: false };
/** `GET …/audit-log` */
export const ListAuditSchema = Type.Object({ ...FILTERS, ...PAGE_PARAMETERS }, closed);
/** `GET …/audit-log/export` */
export const ExportAuditSchema = Type.Object(FILTERS, closed);
/** `GET …/audit-log/check`, which takes no parameter. */
export const CheckAuditSchema = Type.Object({}, closed);
const validateList = validator(ListAuditSchema);
const validateExport = validator(ExportAuditSchema);
const validateCheck = validator(CheckAuditSchema);

/** Authenticates a request, and returns the organization whose log it means; null = the installation. */
type Admit = (context: RequestContext) => Promise<string | null>;

interface AuditDeps {
  readonly sql: () => Sql;
  readonly admit: Admit;
}

/**
 * The audit log of an organization, or of the installation: `GET …/audit-log` is a page, the newest
 * lines first; `/export` is the whole log as NDJSON, the oldest lines first; `/check` follows the chain
 * of hashes. Lines are shown as they were hashed, so that another program can check them too.
 */
export function auditRoutes({
  sql,
  admit,
}: AuditDeps): Record<'list' | 'export' | 'check', Handler> {
  return {
    async list(context) {
      const organization_id = await admit(context);
      const query = readQuery(context.request, validateList);
      const limit = query.limit ?? DEFAULT_LIMIT;
      const place = { before_seq: seqOf(query.cursor) };
      const lines = await readAudit(sql(), organization_id, filterOf(query), place, limit + 1);
      const data = lines.slice(0, limit);
      const has_more = lines.length > limit;
      const next_cursor = has_more ? String(data.at(-1)?.seq) : null;
      return json({ object: 'list', data, has_more, next_cursor });
    },
    async export(context) {
      const organization_id = await admit(context);
      const filter = filterOf(readQuery(context.request, validateExport));
      context.server?.timeout(context.request, 0);
      return new Response(linesOf(sql(), organization_id, filter), {
        headers: {
          'content-type': 'application/x-ndjson',
          'content-disposition': 'attachment; filename="audit-log.ndjson"',
        },
      });
    },
    async check(context) {
      const organization_id = await admit(context);
      readQuery(context.request, validateCheck);
      const { lines, broken_at } = await verifyAudit(sql(), organization_id);
      return json({ object: 'audit_log_check', intact: broken_at === null, lines, broken_at });
    },
  };
}

function filterOf(query: Static<typeof ExportAuditSchema>): AuditFilter {
  const { action, subject_id, actor_id } = query;
  return { action, subject_id, actor_id, ...readDateRange(query) };
}

function seqOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  if (CURSOR.test(cursor)) return Number(cursor);
  throw new WeirError('invalid_request', 'cursor is not the next_cursor of a page.', {
    param: 'cursor',
    hint: 'Leave cursor out for the first page.',
  });
}

/** The text of an export. The next lines are read when the client has taken those before. */
function linesOf(
  sql: Sql,
  organization_id: string | null,
  filter: AuditFilter,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let after_seq = 0;
  const textOf = (line: AuditLine) => `${JSON.stringify(line)}\n`;
  return new ReadableStream<Uint8Array>(
    {
      async pull(client) {
        const lines = await readAudit(sql, organization_id, filter, { after_seq }, BATCH);
        const last = lines.at(-1);
        if (last) client.enqueue(encoder.encode(lines.map(textOf).join('')));
        if (!last || lines.length < BATCH) client.close();
        else after_seq = last.seq;
      },
    },
    { highWaterMark: 0 },
  );
}
