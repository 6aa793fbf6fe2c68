import { type BookedDeposit, findDeposit, listAllDeposits } from '../../../db/accounts/deposits.ts';
import { findAccount } from '../../../db/accounts/organizations.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { changedMembers } from '../../json/changed-members.ts';
import { usd } from '../../json/usd.ts';
import { type Handler, json } from '../endpoint.ts';
import { listAnswer, pageRequestOf, readQuery } from '../management/list-query.ts';
import {
  changeOrganization,
  type OrganizationDeps,
  organizationIdOf,
  organizationNotFound,
  readOperatorBody,
} from './organization-change.ts';
import {
  CreditLineSchema,
  creditLineOf,
  DepositSchema,
  ListDepositsSchema,
  nanoUsd,
} from './organization-record.ts';

const validateList = validator(ListDepositsSchema);
const validateDeposit = validator(DepositSchema);
const validateCreditLine = validator(CreditLineSchema);

/** The routes with which operators book payments, and lend money. */
export class DepositRoutes {
  constructor(private readonly deps: OrganizationDeps) {}

  /** `GET /v1/operator/organizations/{id}/deposits` */
  readonly list: Handler = async (context) => {
    await this.deps.authentication.requireOperator(context);
    const query = readQuery(context.request, validateList);
    const { sql } = this.deps;
    const id = organizationIdOf(context);
    const page = await listAllDeposits(sql, id, query.kind, pageRequestOf(query));
    if (page.rows.length === 0 && !(await findAccount(sql, id))) throw organizationNotFound();
    return json(listAnswer(page, (row) => row.id, depositRecord));
  };

  /**
   * `POST …/deposits`. A payment is booked once: the same reference gets the first answer, and is refused
   * with another amount.
   */
  readonly create: Handler = async (context) => {
    const operator = await this.deps.authentication.requireOperator(context);
    const { value, text: body } = await readOperatorBody(context);
    const { amount: amount_usd, reference, note = '' } = validateDeposit(value);
    const amount = nanoUsd(amount_usd);
    const route = 'deposit.create';
    return changeOrganization(this.deps, context, operator, { route, body }, async (of) => {
      const { id: organization_id, status, deposited } = of.before;
      const earlier = await findDeposit(of.tx, organization_id, reference);
      if (earlier) return repeatOf(earlier, amount);
      if (status === 'closed') {
        throw new WeirError('conflict', 'The organization is closed.', {
          ...{ param: 'id', hint: 'Reactivate it first.' },
        });
      }
      requireExact(deposited + amount);
      const deposit_id = Bun.randomUUIDv7();
      await of.move({ type: 'DEPOSIT', deposit_id, organization_id, amount, reference, note });
      const deposit = await findDeposit(of.tx, organization_id, reference);
      if (!deposit) throw new Error('the deposit vanished in its transaction');
      const { object: _object, organization_id: _id, id, ...after } = depositRecord(deposit);
      await of.audit(route, id, { before: null, after });
      return json(depositRecord(deposit));
    });
  };

  /** `PATCH …/credit-line`. The balance rises or falls with the line (decisions: credit-lines). */
  readonly setCreditLine: Handler = async (context) => {
    const operator = await this.deps.authentication.requireOperator(context);
    const { value, text: body } = await readOperatorBody(context);
    const limit = nanoUsd(validateCreditLine(value).amount);
    const route = 'credit_line.update';
    return changeOrganization(this.deps, context, operator, { route, body }, async (of) => {
      const { before, tx } = of;
      if (before.status === 'closed' && limit > 0) {
        throw new WeirError('conflict', 'The organization is closed.', {
          ...{ param: 'id', hint: 'Reactivate it first.' },
        });
      }
      requireExact(before.deposited + Math.max(0, limit - before.credit));
      await of.move({ type: 'CREDIT', organization_id: before.id, limit });
      const after = await findAccount(tx, before.id);
      if (!after) throw organizationNotFound();
      const members = changedMembers(
        { amount: usd(before.credit_limit) },
        { amount: usd(after.credit_limit) },
      );
      if (members) await of.audit(route, before.id, members);
      return json({
        ...{ object: 'credit_line', organization_id: before.id, currency: 'USD' },
        ...{ ...creditLineOf(after), available: usd(after.available) },
      });
    });
  };
}

/** Returns the answer to a repeated payment. Throws WeirError if it is another payment. */
function repeatOf(earlier: BookedDeposit, amount: number): Response {
  if (earlier.amount === amount) return json(depositRecord(earlier));
  const message = `A deposit of ${usd(earlier.amount)} USD has this reference.`;
  throw new WeirError('already_exists', message, {
    param: 'reference',
    hint: 'Send the reference of a payment with its amount only, and each payment with its own.',
  });
}

/** Throws WeirError if the deposits of an organization would exceed what a number holds exactly. */
function requireExact(deposited: number): void {
  if (Number.isSafeInteger(deposited)) return;
  const message = `All deposits of an organization can be at most ${usd(Number.MAX_SAFE_INTEGER)} USD.`;
  throw new WeirError('invalid_request', message, { param: 'amount' });
}

function depositRecord(row: BookedDeposit) {
  return {
    object: 'deposit',
    id: row.id,
    organization_id: row.organization_id,
    kind: row.kind,
    amount: usd(row.amount),
    currency: 'USD',
    reference: row.reference,
    note: row.note,
    created_at: row.created_at.toISOString(),
  };
}
