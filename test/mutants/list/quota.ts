import type { MutatedFile } from '../mutant.ts';

const QUOTA_TESTS = ['test/actors/money/quota.test.ts'];
const MISHAPS = ['test/actors/money/mishaps.test.ts'];
const SCHEDULED = ['test/sim/near-cap.test.ts'];

export const QUOTA: readonly MutatedFile[] = [
  {
    path: 'src/actors/money/quota.ts',
    tests: QUOTA_TESTS,
    mutants: [
      {
        name: 'a charge that the database rejected stays on the grant',
        from: 'if (grant) this.onCharged(grant, charge, answer, line.id);',
        to: 'if (grant && answer) this.onCharged(grant, charge, answer, line.id);',
      },
      {
        name: 'a release does not free its reservation',
        hangs: true,
        from: '    this.machine.release(reserved);\n',
        to: '',
      },
      {
        name: 'waiting calls are not admitted when money becomes free',
        from: '      this.admitWaiting();\n      this.sync.wake();',
        to: '      this.sync.wake();',
      },
      {
        name: 'the machine gets an event for every waiting call',
        from: 'if (this.machine.isOpen() && waiter.amount > this.machine.idle) continue;',
        to: '',
      },
      {
        name: 'a charge ignores its reservation',
        from: 'this.machine.settle(reserved, counted).charge',
        to: 'this.machine.settle(0, counted).charge',
      },
      {
        name: 'a suspended key stays suspended after a new authentication',
        from: "      this.machine.send({ type: 'STATUS_CHANGED', status: 'active' });\n",
        to: '',
      },
      {
        name: 'memory follows the charge, not the row',
        from: 'unbooked = settled - (answer.grant_settled + grant.unanswered);',
        to: 'return;',
        tests: MISHAPS,
      },
      {
        name: 'a charge above its reservation takes no free money',
        from: 'const isShort = overrun > this.machine.idle && this.currentGrant(grant_id);',
        to: 'const isShort = false;',
        tests: MISHAPS,
      },
      {
        name: 'a grant of the new replica is dropped',
        from: 'if (this.sync.current.replica_id === this.deps.replica_id()) return;\n    this.sync',
        to: 'this.sync',
        tests: MISHAPS,
      },
    ],
  },
  {
    path: 'src/actors/money/grant-sync.ts',
    tests: QUOTA_TESTS,
    mutants: [
      {
        name: 'a call that extends its reservation waits for itself',
        hangs: true,
        from: "(waiter.event === 'EXTEND' ? 1 : 0)",
        to: '0',
      },
      {
        name: 'a close that the running sync did not see is lost',
        from: 'while (this.isCloseRequested) {',
        to: 'if (this.isCloseRequested) {',
      },
      {
        name: 'money of calls in flight counts as spent',
        from: 'if (short.elsewhere > 0 || hasOtherCalls || this.quota.hasUnsettled) {',
        to: 'if (short.elsewhere > 0 || this.quota.hasUnsettled) {',
      },
      {
        name: 'money of calls in flight on other replicas counts as spent',
        from: 'if (short.elsewhere > 0 || hasOtherCalls || this.quota.hasUnsettled) {',
        to: 'if (hasOtherCalls || this.quota.hasUnsettled) {',
        tests: ['test/actors/money/ledger-answers.test.ts'],
      },
      {
        name: 'a recall returns no money',
        from: "isRecalled ? { type: 'RECALLED' } : { type: 'SHRINK', keep }",
        to: "{ type: 'SHRINK', keep: machine.idle }",
        tests: SCHEDULED,
      },
      {
        name: 'a call is admitted with less than its minimum',
        from: 'if (left === 0 || left < minimum) {',
        to: 'if (left === 0) {',
        tests: SCHEDULED,
      },
      {
        name: 'an answer that was lost is not asked for',
        hangs: true,
        from: 'if (grant.granted > 0 || grant.isUncertain) {',
        to: 'if (grant.granted > 0) {',
        tests: MISHAPS,
      },
    ],
  },
  {
    path: 'src/actors/money/overruns.ts',
    tests: MISHAPS,
    mutants: [
      {
        name: 'an overrun does not wait for the unused money of others',
        from: 'if (this.clock.now() < first.waits_until) return true;',
        to: '',
      },
      {
        name: 'an overrun takes nothing if not all of it is free',
        from: 'first.amount = this.machine.idle + (isShort ? answer.free : 0);',
        to: 'first.amount = 0;',
      },
    ],
  },
  {
    path: 'src/actors/money/reservation.ts',
    tests: QUOTA_TESTS,
    mutants: [
      {
        name: 'a reservation settles twice',
        from: "if (this.hasEnded) return Promise.reject(new Error('the reservation has already ended'));",
        to: '',
      },
      {
        name: 'a settled reservation is released as well',
        from: '    if (this.hasEnded) return;\n    this.hasEnded = true;\n    this.onEnd?.(undefined);',
        to: '    this.hasEnded = true;\n    this.onEnd?.(undefined);',
      },
      {
        name: 'an extension of an ended call keeps its money',
        from: '      this.owner.takeBack(this.grant_id, extra);\n',
        to: '',
        tests: MISHAPS,
      },
      {
        name: 'an extension is not added to the reservation',
        from: '    this.reserved += extra;\n',
        to: '',
      },
    ],
  },
  {
    path: 'src/machines/quota.ts',
    tests: ['test/machines/quota.test.ts'],
    mutants: [
      {
        name: 'a call that needs all idle money is short',
        from: 'event.amount <= idleOf(context)',
        to: 'event.amount < idleOf(context)',
      },
      {
        name: 'reserved money counts as idle',
        from: 'sums.granted - sums.settled - sums.reserved',
        to: 'sums.granted - sums.settled',
      },
      {
        name: 'a charge exceeds the grant',
        from: 'Math.min(call.actual, call.reserved + idleOf(sums))',
        to: 'call.actual',
      },
      {
        name: 'a charge cannot use idle money',
        from: 'Math.min(call.actual, call.reserved + idleOf(sums))',
        to: 'Math.min(call.actual, call.reserved)',
      },
      {
        name: 'a settled call keeps its reservation',
        from: 'reserved: reserved - call.reserved,',
        to: 'reserved,',
      },
      {
        name: 'a settled call stays in flight',
        from: '      in_flight: in_flight - 1,\n    },',
        to: '      in_flight,\n    },',
      },
      {
        name: 'a released call stays in flight',
        from: 'reserved: reserved - amount, in_flight: in_flight - 1',
        to: 'reserved: reserved - amount, in_flight',
      },
      {
        name: 'a return is negative',
        from: 'Math.max(0, idleOf(context) - keep)',
        to: 'idleOf(context) - keep',
      },
      {
        name: 'a rejected charge is added again',
        from: 'context.settled - event.amount',
        to: 'context.settled + event.amount',
      },
      {
        name: 'a revoked key becomes active again',
        from: ', STATUS_CHANGED: {}, EXPIRED: {} }',
        to: ' }',
      },
      {
        name: 'a key stays exhausted after its limit changed',
        from: "        LIMIT_CHANGED: 'open.exact',\n",
        to: '',
      },
      {
        name: 'an extension counts as another call in flight',
        from: "if (event.type === 'EXTEND') return { reserved: context.reserved + event.amount, verdict };",
        to: "if (event.type === 'EXTEND') return { ...admitCall(context, event.amount), verdict };",
      },
    ],
  },
  {
    path: 'src/actors/money/quota-machine.ts',
    tests: ['test/actors/money/quota-machine.test.ts'],
    mutants: [
      {
        name: 'an admission exceeds the grant by one',
        from: 'amount > this.idle)\n      return',
        to: 'amount > this.idle + 1)\n      return',
      },
      {
        name: 'a call of a key that is not active is admitted',
        from: '!this.isOpen() || amount > this.idle',
        to: 'amount > this.idle',
      },
      {
        name: 'charges are not sent to the machine',
        from: 'settled: now.settled - context.settled,',
        to: 'settled: 0,',
      },
      {
        name: 'an event is sent before the calls that preceded it',
        from: '    this.sendCalls();\n    this.pass(event, call_id);',
        to: '    this.pass(event, call_id);',
      },
    ],
  },
  {
    path: 'src/actors/money/grant.ts',
    tests: ['test/sim/faults.test.ts'],
    mutants: [
      {
        name: 'a request names the replica of now, not of its grant',
        from: 'const { replica_id } = this;',
        to: 'const replica_id = this.deps.replica_id();',
        tests: MISHAPS,
      },
      {
        name: 'the actor ignores the granted amount of its row',
        from: "if (answer.type === 'granted') this.granted = answer.granted;",
        to: '',
      },
      {
        name: 'the actor ignores the returned amount of its row',
        from: '    this.granted = answer.granted;\n    return answer.closed;',
        to: '    return answer.closed;',
        tests: ['test/actors/money/ledger-answers.test.ts'],
      },
    ],
  },
  {
    path: 'src/actors/money/recent-spend.ts',
    tests: ['test/actors/money/recent-spend.test.ts'],
    mutants: [
      { name: 'the slack covers one call', from: 'amount * SLACK_CALLS', to: 'amount' },
      { name: 'the slack ignores the peak of reservations', from: 'peakReserved * 2, ', to: '' },
      { name: 'the slack ignores the recent rate', from: ', perMs * SLACK_MS)', to: ')' },
      {
        name: 'a period counts twice',
        from: '    this.chargedSinceSweep = 0;\n    this.peakReserved',
        to: '    this.peakReserved',
      },
      { name: 'a key never counts as idle', from: '    this.hadCalls = false;\n', to: '' },
      { name: 'the slack is not a whole number', from: 'return Math.ceil(', to: 'return Number(' },
    ],
  },
  {
    path: 'src/actors/money/admission-queue.ts',
    tests: ['test/actors/money/admission-queue.test.ts'],
    mutants: [
      {
        name: 'a stream in flight waits behind new calls',
        from: "if (event === 'EXTEND') this.waitingCalls.unshift(waiter);\n      else this.waitingCalls.push(waiter);",
        to: 'this.waitingCalls.push(waiter);',
      },
      {
        name: 'a call whose client left stays in the queue',
        from: "request.signal?.addEventListener('abort', onAbort);",
        to: '',
      },
      {
        name: 'a call whose client left earlier waits',
        from: 'if (request.signal?.aborted) onAbort();',
        to: '',
      },
      {
        name: 'one call more than the limit waits',
        hangs: true,
        from: 'this.waitingCalls.length >= MAX_WAITING_CALLS',
        to: 'this.waitingCalls.length > MAX_WAITING_CALLS',
      },
      {
        name: 'the timeout of an admitted call still runs',
        from: '        stopClock();\n',
        to: '',
      },
      {
        name: 'an admitted call stays in the queue',
        from: 'if (index >= 0) this.waitingCalls.splice(index, 1);',
        to: '',
      },
    ],
  },
  {
    path: 'src/actors/money/repeated.ts',
    tests: ['test/actors/money/audit.test.ts'],
    mutants: [
      {
        name: 'every request waits for an audit that runs for long',
        from: 'if (isLong || left_ms <= 0) return latest;',
        to: 'if (isLong) return latest;',
      },
    ],
  },
];
