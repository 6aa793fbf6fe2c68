import type { MutatedFile } from '../mutant.ts';

const LEDGER_TESTS = ['test/actors/money/ledger.test.ts', 'test/actors/money/holds.test.ts'];
const MISHAPS = ['test/actors/money/mishaps.test.ts'];
const SCHEDULED = ['test/sim/near-cap.test.ts'];

export const LEDGER: readonly MutatedFile[] = [
  {
    path: 'src/actors/money/deposit-commands.ts',
    tests: ['test/actors/money/credit.test.ts'],
    mutants: [
      {
        name: 'credit is taken back from money that is not free',
        from: 'Math.max(missing, -balance_nano_usd)',
        to: 'missing',
      },
      {
        name: 'a lower credit line takes nothing back',
        from: 'Math.max(missing, -balance_nano_usd)',
        to: 'Math.max(missing, 0)',
      },
      {
        name: 'a lower credit line leaves idle grants',
        from: '      books.hints.onRecall({ seq, organization_id, key_id: null });\n',
        to: '',
      },
      {
        name: 'credit is not counted as credit',
        from: 'this.books.addCredit(organization_id, amount);',
        to: 'this.books.deposit(organization_id, amount);',
      },
    ],
  },
  {
    path: 'src/actors/money/hold-commands.ts',
    tests: LEDGER_TESTS,
    mutants: [
      {
        name: 'the overrun of a hold is lost',
        from: 'command.line.overrun_nano_usd + (due - charged)',
        to: 'command.line.overrun_nano_usd',
      },
      {
        name: 'a settled hold is settled again',
        from: "if (hold.status !== 'held') return holdEnded(hold);\n    const { charged_nano_usd: due,",
        to: 'const { charged_nano_usd: due,',
      },
      {
        name: 'a settled hold has two lines',
        from: '    this.lines.push({\n',
        to: '    this.lines.push({ ...command.line, id: crypto.randomUUID(), hold_id: hold.id });\n    this.lines.push({\n',
      },
      {
        name: 'a charge above a hold exceeds the cap',
        from: 'Math.min(key_free ?? missing, balance, ...',
        to: 'Math.min(balance, ...',
      },
      {
        name: 'a charge above a hold exceeds the balance',
        from: 'Math.min(key_free ?? missing, balance, ...',
        to: 'Math.min(key_free ?? missing, ...',
      },
      {
        name: 'free money for a charge above a hold is not set aside',
        from: '    this.books.setAside(key, hold, added);\n',
        to: '',
      },
      {
        name: 'an expired hold counts as released',
        from: "command.type === 'RELEASE_HOLD' ? 'released' : 'expired'",
        to: "'released'",
      },
      {
        name: 'a repeated hold sets money aside again',
        from: "if (existing) return existing.status === 'held' ? { type: 'held' } : holdEnded(existing);",
        to: '',
      },
      {
        name: 'an extension adds its total amount',
        from: 'const extra = command.amount - hold.amount_nano_usd;',
        to: 'const extra = command.amount;',
      },
      {
        name: 'an extension does not change the hold',
        from: '    hold.amount_nano_usd = command.amount;\n',
        to: '',
      },
    ],
  },
  {
    path: 'src/actors/money/books.ts',
    tests: LEDGER_TESTS,
    mutants: [
      {
        name: 'the rest of a settled hold is not released',
        from: '    this.freeMoney(key, hold, hold.amount_nano_usd - counted);\n',
        to: '',
      },
      {
        name: 'held money does not count against the cap',
        from: 'key.limit_nano_usd - key.used_nano_usd - key.held_nano_usd',
        to: 'key.limit_nano_usd - key.used_nano_usd',
      },
      {
        name: 'a key that is not active gets money',
        from: "if (key.status !== 'active') return key.status;",
        to: '',
      },
      {
        name: 'a key of a suspended organization gets money',
        from: "if (status !== 'active') return",
        to: 'if (false) return',
        tests: ['test/actors/money/credit.test.ts'],
      },
      {
        name: 'an expired key gets money',
        from: "return key.expired ? 'expired' : undefined;",
        to: 'return undefined;',
      },
      {
        name: 'what is counted and not charged stays away from the organization',
        from: '    organization.balance_nano_usd += uncharged;\n',
        to: '',
        tests: ['test/actors/money/counted.test.ts'],
      },
      {
        name: 'what is counted is charged to the organization',
        from: 'organization.settled_nano_usd += counted - uncharged;',
        to: 'organization.settled_nano_usd += counted;',
        tests: ['test/actors/money/counted.test.ts'],
      },
      {
        name: 'a charged amount stays held by the organization',
        from: '    organization.held_nano_usd -= counted;\n',
        to: '',
      },
      {
        name: 'the balance grows by the money that is set aside',
        from: 'organization.balance_nano_usd -= amount;',
        to: 'organization.balance_nano_usd += amount;',
      },
    ],
  },
  {
    path: 'src/actors/money/grant-commands.ts',
    tests: LEDGER_TESTS,
    mutants: [
      {
        name: 'a dead replica gets a grant',
        from: "grant.status === 'closed' || !this.liveReplicas.has(command.replica_id)",
        to: "grant.status === 'closed'",
      },
      {
        name: 'a closed grant opens again',
        from: "grant.status === 'closed' || !this.liveReplicas.has(command.replica_id)",
        to: '!this.liveReplicas.has(command.replica_id)',
      },
      {
        name: 'a repeated grant adds money again',
        from: 'grant.granted_nano_usd !== command.expected_granted || !(isOfToday',
        to: '!(isOfToday',
      },
      {
        name: 'a call that has run is not paid if its key was revoked',
        from: 'command.for_overrun ? undefined : this.books.unusableStatus(key)',
        to: 'this.books.unusableStatus(key)',
        tests: MISHAPS,
      },
      {
        name: 'a repeated return returns money again',
        from: 'if (grant.granted_nano_usd === command.expected_granted)\n      books.shrinkGrant',
        to: 'books.shrinkGrant',
      },
      {
        name: 'a grant is closed with unposted charges',
        from: '    books.post(grant);\n    if (command.recall_acked >',
        to: '    if (command.recall_acked >',
      },
      {
        name: 'a reaped grant keeps its money',
        from: '      books.shrinkGrant(grant, grant.granted_nano_usd - grant.settled_nano_usd);\n',
        to: '',
      },
      {
        name: 'a reaped grant returns its charges too',
        from: 'books.shrinkGrant(grant, grant.granted_nano_usd - grant.settled_nano_usd);',
        to: 'books.shrinkGrant(grant, grant.granted_nano_usd);',
      },
    ],
  },
  {
    path: 'src/actors/money/shortage.ts',
    tests: LEDGER_TESTS,
    mutants: [
      {
        name: 'money in the grants of other keys is not recalled',
        from: 'if (!hasUnrecalled) return undefined;',
        to: 'return undefined;',
        tests: SCHEDULED,
      },
      {
        name: 'the money of the requesting grant counts as money elsewhere',
        from: 'open.id !== request.grant_id',
        to: 'true',
      },
    ],
  },
  {
    path: 'src/machines/grant.ts',
    tests: ['test/machines/grant.test.ts'],
    mutants: [
      {
        name: 'a request for all free money is refused',
        from: 'request.need > free',
        to: 'request.need >= free',
      },
      { name: 'a share leaves no money for other replicas', from: '(2 * funds.replicas)', to: '2' },
      {
        name: 'the balance does not limit a grant',
        from: 'return balance < tightest.free ?',
        to: 'return false ?',
      },
      {
        name: 'a grant exceeds the requested amount',
        from: 'Math.min(request.want, fairShare)',
        to: 'fairShare',
      },
      {
        name: 'a short grant names the wrong limit',
        from: "{ bound: 'organization' as const,",
        to: "{ bound: 'key' as const,",
      },
    ],
  },
  {
    path: 'src/actors/money/lane.ts',
    tests: LEDGER_TESTS,
    mutants: [
      {
        name: 'a charge to a missing grant counts as settled',
        from: "if (!row) return { type: 'not_found' };",
        to: "if (!row) return { type: 'settled', charged: 0, overrun: 0 };",
      },
      {
        name: 'charges and other commands get the answers of each other',
        from: "command.type === 'SETTLE' ? charges.next() : moneyAnswers.next()",
        to: "command.type !== 'SETTLE' ? charges.next() : moneyAnswers.next()",
      },
      {
        name: 'the charge of a hold may be dropped',
        from: "command.type === 'SETTLE' || command.type === 'SETTLE_HOLD'",
        to: "command.type === 'SETTLE'",
      },
    ],
  },
];
