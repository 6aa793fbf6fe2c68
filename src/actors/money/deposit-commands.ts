import type { TransactionSql } from '../../../db/client.ts';
import { insertDeposits, type NewDeposit } from '../../../db/ledger/entries.ts';
import { nextRecall } from '../../../db/ledger/replicas.ts';
import type { OrganizationRow } from '../../../db/ledger/rows.ts';
import type { Books } from './books.ts';
import type { LedgerAnswer, LedgerCommand } from './ledger-commands.ts';

type Command<Type extends LedgerCommand['type']> = Extract<LedgerCommand, { type: Type }>;

/** Applies the commands that add money to organizations, or take credit back, in one transaction. */
export class DepositCommands {
  private readonly payments: NewDeposit[] = [];
  /** The organizations whose line this transaction set. */
  private readonly lines = new Set<string>();

  constructor(
    private readonly tx: TransactionSql,
    private readonly books: Books,
  ) {}

  deposit(command: Command<'DEPOSIT'>): LedgerAnswer {
    const { deposit_id: id, organization_id, amount, reference = null, note } = command;
    if (!this.books.rows.organizations.has(organization_id)) return { type: 'not_found' };
    this.payments.push({ id, organization_id, kind: 'payment', amount, reference, note });
    this.books.hints.onMoneyFreed(organization_id);
    return { type: 'done' };
  }

  setCreditLine({ organization_id, limit }: Command<'CREDIT'>): LedgerAnswer {
    const organization = this.books.rows.organizations.get(organization_id);
    if (!organization) return { type: 'not_found' };
    organization.credit_limit_nano_usd = limit;
    this.lines.add(organization_id);
    return { type: 'done' };
  }

  /**
   * Books the deposits, and brings the credit of each organization to its line. Credit above the line is
   * taken back with the money that is free now. If that is too little after a line was lowered, unused
   * grants are recalled. Money that becomes free later is taken then, because every transaction that
   * frees money ends here.
   */
  async book(): Promise<void> {
    const { books } = this;
    for (const added of await insertDeposits(this.tx, this.payments)) {
      books.deposit(added.organization_id, added.amount_nano_usd);
    }
    const credits = [...books.rows.organizations.values()].flatMap((row) =>
      this.balanceCredit(row),
    );
    await insertDeposits(this.tx, credits);
    for (const organization_id of this.lines) {
      const { credit_nano_usd, credit_limit_nano_usd } = books.organization(organization_id);
      if (credit_nano_usd <= credit_limit_nano_usd) continue;
      const seq = await nextRecall(this.tx);
      books.hints.onRecall({ seq, organization_id, key_id: null });
    }
  }

  /** Adds the credit that an organization lacks, or takes back what it has above its line. */
  private balanceCredit(organization: OrganizationRow): NewDeposit[] {
    const { id: organization_id, balance_nano_usd } = organization;
    const missing = organization.credit_limit_nano_usd - organization.credit_nano_usd;
    const amount = Math.max(missing, -balance_nano_usd);
    if (amount === 0) return [];
    this.books.addCredit(organization_id, amount);
    if (amount > 0) this.books.hints.onMoneyFreed(organization_id);
    const kind = amount > 0 ? 'credit' : 'credit_return';
    const id = Bun.randomUUIDv7();
    return [{ id, organization_id, kind, amount, reference: null, note: '' }];
  }
}
