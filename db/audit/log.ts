import canonicalize from 'canonicalize';
import type { Sql, TransactionSql } from 'postgres';
import type { Actor, AuditLine, Change } from './entry.ts';

/** Who changed something, as an organization sees an operator. */
const AN_OPERATOR = {
  kind: 'operator',
  id: '',
  label: '',
  credential_id: null,
  address: '',
} as const;

/**
 * Adds a change to the audit log of its organization, in the transaction of the change: either both
 * are committed or neither is. Call it last in the transaction, because other changes of the
 * organization wait from then on until the commit.
 *
 * What an operator does to an organization is in two logs: that of the organization, which does not
 * say which operator, and that of the installation.
 *
 * Returns the number of the line; of two lines, that of the one in the log of the installation.
 */
export async function appendAudit(tx: TransactionSql, change: Change): Promise<number> {
  const { organization_id, actor } = change;
  if (organization_id !== null) {
    const isOperator = actor.kind === 'operator';
    const seq = await append(tx, isOperator ? { ...change, actor: shownOperator(actor) } : change);
    if (!isOperator) return seq;
  }
  const named = organization_id === null ? change.after : { ...change.after, organization_id };
  return append(tx, { ...change, organization_id: null, after: named });
}

const shownOperator = ({ request_id }: Actor): Actor => ({ ...AN_OPERATOR, request_id });

async function append(tx: TransactionSql, change: Change): Promise<number> {
  const chain = change.organization_id ?? '';
  await tx`insert into audit_head (organization_id) values (${chain}) on conflict do nothing`;
  const [last] = await tx<{ seq: number; hash: string; at: Date }[]>`
    select seq, hash, greatest(date_trunc('milliseconds', weir_now()), at) as at
    from audit_head where organization_id = ${chain} for update`;
  if (!last) throw new Error('the database returned no row');
  const { organization_id, actor, action, subject_id, before, after } = change;
  const line = {
    ...{ seq: last.seq + 1, organization_id, at: last.at.toISOString() },
    ...{ actor, action, subject_id, before, after, previous_hash: last.hash },
  };
  const hash = hashOf(line);
  await tx`insert into audit_log ${tx({
    ...{ organization_id: chain, seq: line.seq, at: last.at, actor_kind: actor.kind },
    ...{ actor_id: actor.id, actor_label: actor.label, credential_id: actor.credential_id },
    ...{ address: actor.address, request_id: actor.request_id, action, subject_id },
    before: before === null ? null : tx.json(before as never),
    after: after === null ? null : tx.json(after as never),
    ...{ previous_hash: last.hash, hash },
  })}`;
  await tx`
    update audit_head set seq = ${line.seq}, hash = ${hash}, at = ${last.at}
    where organization_id = ${chain}`;
  return line.seq;
}

/**
 * Adds a change that is made by other means than a transaction, e.g. by an event of an actor. Call it
 * before the change: a line without its change is better than a change without its line.
 */
export async function noteChange(sql: Sql, change: Change): Promise<void> {
  await sql.begin((tx) => appendAudit(tx, change));
}

/** Returns the hash of a line: SHA-256 of its other members as canonical JSON (RFC 8785), hex. */
export function hashOf(line: Omit<AuditLine, 'hash'>): string {
  return new Bun.CryptoHasher('sha256').update(canonicalize(line) ?? '').digest('hex');
}

/** Which lines of a log are meant. A missing member does not filter. */
export interface AuditFilter {
  readonly action?: string | undefined;
  readonly subject_id?: string | undefined;
  readonly actor_id?: string | undefined;
  readonly since?: Date | undefined;
  readonly before?: Date | undefined;
}

interface AuditRow {
  readonly seq: number;
  readonly organization_id: string;
  readonly at: Date;
  readonly actor_kind: Actor['kind'];
  readonly actor_id: string;
  readonly actor_label: string;
  readonly credential_id: string | null;
  readonly address: string;
  readonly request_id: string | null;
  readonly action: string;
  readonly subject_id: string;
  readonly before: object | null;
  readonly after: object | null;
  readonly previous_hash: string;
  readonly hash: string;
}

/**
 * Returns at most `limit` lines of the log of an organization, or of the installation (null): the newest
 * first and before `before_seq`, or the oldest first and after `after_seq`.
 */
export async function readAudit(
  sql: Sql,
  organization_id: string | null,
  filter: AuditFilter,
  place: { readonly before_seq?: number | undefined } | { readonly after_seq: number },
  limit: number,
): Promise<AuditLine[]> {
  const { action, subject_id, actor_id, since, before } = filter;
  const is = (name: string, value: string | undefined) =>
    value === undefined ? sql`` : sql`and ${sql(name)} = ${value}`;
  const isOldestFirst = 'after_seq' in place;
  const bound = isOldestFirst
    ? sql`and seq > ${place.after_seq}`
    : sql`and seq < ${place.before_seq ?? Number.MAX_SAFE_INTEGER}`;
  const rows = await sql<AuditRow[]>`
    select * from audit_log
    where organization_id = ${organization_id ?? ''} ${bound} ${is('action', action)}
      ${is('subject_id', subject_id)} ${is('actor_id', actor_id)}
      ${since === undefined ? sql`` : sql`and at >= ${since}`}
      ${before === undefined ? sql`` : sql`and at < ${before}`}
    order by seq ${isOldestFirst ? sql`` : sql`desc`} limit ${limit}`;
  return rows.map(lineOf);
}

function lineOf(row: AuditRow): AuditLine {
  const { seq, organization_id, at, action, subject_id, before, after, previous_hash, hash } = row;
  return {
    ...{ seq, organization_id: organization_id === '' ? null : organization_id },
    at: at.toISOString(),
    actor: {
      ...{ kind: row.actor_kind, id: row.actor_id, label: row.actor_label },
      ...{ credential_id: row.credential_id, address: row.address, request_id: row.request_id },
    },
    ...{ action, subject_id, before, after, previous_hash, hash },
  };
}
