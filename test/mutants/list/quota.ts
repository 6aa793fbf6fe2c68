import type { MutatedFile } from '../mutant.ts';

const QUOTA_TESTS = ['test/actors/money/quota.test.ts'];
const SCHEDULED = ['test/sim/near-cap.test.ts'];

export const QUOTA: readonly MutatedFile[] = [
  {
    path: 'src/actors/money/quota.ts',
    tests: QUOTA_TESTS,
    mutants: [
      {
        name: 'a call that extends waits for itself',
        from: "(waiter.event === 'EXTEND' ? 1 : 0)",
        to: '0',
      },
      {
        name: 'a refused charge stays on the grant',
        from: "if (grantId === this.grant.id) this.live.send({ type: 'UNBOOKED', amount: charge });",
        to: '',
      },
      {
        name: 'a release frees nothing',
        from: '    this.live.release(reserved);\n',
        to: '',
      },
      {
        name: 'a close that a talk missed is lost',
        from: 'while (this.closeWanted) {',
        to: 'if (this.closeWanted) {',
      },
      {
        name: 'waiting calls are not admitted when money comes back',
        from: '      this.admitWaiting();\n      this.wake?.();',
        to: '      this.wake?.();',
      },
      {
        name: 'the machine is asked about every waiting call',
        from: 'if (this.live.isOpen() && waiter.amount > this.live.idle) continue;',
        to: '',
      },
      {
        name: 'money in flight counts as gone',
        from: 'if (short.elsewhere > 0 || othersHere || this.unsettled > 0) {',
        to: 'if (short.elsewhere > 0 || this.unsettled > 0) {',
      },
      {
        name: 'money of other replicas in flight counts as gone',
        from: 'if (short.elsewhere > 0 || othersHere || this.unsettled > 0) {',
        to: 'if (othersHere || this.unsettled > 0) {',
        tests: SCHEDULED,
      },
      {
        name: 'a recall is answered and nothing returned',
        from: "recalled ? { type: 'RECALLED' } : { type: 'SHRINK', keep }",
        to: "{ type: 'SHRINK', keep: this.live.idle }",
        tests: SCHEDULED,
      },
      {
        name: 'a charge takes no account of its reservation',
        from: 'return this.live.settle(reserved, actual);',
        to: 'return this.live.settle(0, actual);',
      },
      {
        name: 'a smaller amount than the least is admitted',
        from: 'if (left === 0 || left < minimum) {',
        to: 'if (left === 0) {',
        tests: SCHEDULED,
      },
      {
        name: 'a suspended key stays so after it was authenticated anew',
        from: "      this.live.send({ type: 'STATUS_CHANGED', status: 'active' });\n",
        to: '',
      },
    ],
  },
  {
    path: 'src/actors/money/reservation.ts',
    tests: QUOTA_TESTS,
    mutants: [
      {
        name: 'a reservation settles twice',
        from: "if (this.ended) return Promise.reject(new Error('a reservation ends once'));",
        to: '',
      },
      {
        name: 'a settled reservation is released as well',
        from: '    if (this.ended) return;\n    this.ended = true;\n    this.owner.release',
        to: '    this.ended = true;\n    this.owner.release',
      },
      {
        name: 'an extension is not held',
        from: '    this.held += extra;\n',
        to: '',
      },
    ],
  },
  {
    path: 'src/machines/quota.ts',
    tests: ['test/machines/quota.test.ts'],
    mutants: [
      {
        name: 'a call that takes all is short',
        from: 'event.amount <= idleOf(context)',
        to: 'event.amount < idleOf(context)',
      },
      {
        name: 'what is reserved counts as idle',
        from: 'sums.granted - sums.settled - sums.reserved',
        to: 'sums.granted - sums.settled',
      },
      {
        name: 'a charge goes beyond the grant',
        from: 'Math.min(call.actual, call.reserved + idleOf(sums))',
        to: 'call.actual',
      },
      {
        name: 'a charge may not use what lies idle',
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
        name: 'gives back less than nothing',
        from: 'Math.max(0, idleOf(context) - keep)',
        to: 'idleOf(context) - keep',
      },
      {
        name: 'an unbooked charge is added',
        from: 'context.settled - event.amount',
        to: 'context.settled + event.amount',
      },
      {
        name: 'a revoked key becomes active again',
        from: "refuseRevoked' }, STATUS_CHANGED: {}, EXPIRED: {} } }",
        to: "refuseRevoked' } } }",
      },
      {
        name: 'a changed limit leaves a key exhausted',
        from: "        LIMIT_CHANGED: 'open.exact',\n",
        to: '',
      },
      {
        name: 'a call that extends counts as another call',
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
        name: 'an admission goes one beyond the grant',
        from: 'amount > this.idle) return',
        to: 'amount > this.idle + 1) return',
      },
      {
        name: 'a closed key is admitted',
        from: '!this.isOpen() || amount > this.idle',
        to: 'amount > this.idle',
      },
      {
        name: 'charges are not told to the machine',
        from: 'settled: now.settled - context.settled,',
        to: 'settled: 0,',
      },
      {
        name: 'an event does not see the calls before it',
        from: '    this.tellCalls();\n    this.machine.send(event);',
        to: '    this.machine.send(event);',
      },
    ],
  },
  {
    path: 'src/actors/money/grant.ts',
    tests: ['test/sim/faults.test.ts'],
    mutants: [
      {
        name: 'a closed grant is used again',
        from: '    this.id = this.deps.ids.uuid();\n    this.granted = 0;',
        to: '    this.granted = 0;',
        tests: QUOTA_TESTS,
      },
      {
        name: 'does not know what its row gave',
        from: "if (answer.type === 'granted') this.granted = answer.granted;",
        to: '',
      },
      {
        name: 'does not know what its row took back',
        from: '    this.granted = answer.granted;\n    return answer.closed;',
        to: '    return answer.closed;',
      },
    ],
  },
  {
    path: 'src/actors/money/recent-spend.ts',
    tests: ['test/actors/money/recent-spend.test.ts'],
    mutants: [
      { name: 'slack covers one call', from: 'amount * SLACK_CALLS', to: 'amount' },
      { name: 'forgets the peak', from: 'peakReserved * 2, ', to: '' },
      { name: 'forgets its rate', from: ', perMs * SLACK_MS)', to: ')' },
      {
        name: 'counts a period twice',
        from: '    this.sinceSweep = 0;\n    this.peakReserved',
        to: '    this.peakReserved',
      },
      { name: 'is never idle', from: '    this.touched = false;\n', to: '' },
      { name: 'slack is no whole number', from: 'return Math.ceil(', to: 'return Number(' },
    ],
  },
  {
    path: 'src/actors/money/admission-queue.ts',
    tests: ['test/actors/money/admission-queue.test.ts'],
    mutants: [
      {
        name: 'a stream in flight waits behind new calls',
        from: "if (event === 'EXTEND') this.waiters.unshift(waiter);\n      else this.waiters.push(waiter);",
        to: 'this.waiters.push(waiter);',
      },
      {
        name: 'a client that left keeps its place',
        from: "ask.signal?.addEventListener('abort', hangUp);",
        to: '',
      },
      {
        name: 'a client that has left already waits',
        from: 'if (ask.signal?.aborted) hangUp();',
        to: '',
      },
      {
        name: 'one call too many waits',
        from: 'this.waiters.length >= MAX_WAITING_CALLS',
        to: 'this.waiters.length > MAX_WAITING_CALLS',
      },
      { name: 'the clock of an admitted call runs on', from: '        stopClock();\n', to: '' },
      {
        name: 'an admitted call keeps its place',
        from: 'if (index >= 0) this.waiters.splice(index, 1);',
        to: '',
      },
    ],
  },
];
