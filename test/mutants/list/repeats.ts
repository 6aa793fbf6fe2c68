import type { MutatedFile } from '../mutant.ts';

const UNIT = 'test/inference/repeats/repeats.test.ts';
const STREAMS = 'test/inference/repeats/streams.test.ts';

export const REPEATS: readonly MutatedFile[] = [
  {
    path: 'src/inference/repeats/repeats.ts',
    tests: [UNIT],
    mutants: [
      {
        name: 'a call whose replica died runs as if it were still running',
        from: 'throw earlier.is_owner_alive ? inUseError() : unknownOutcomeError();',
        to: 'throw inUseError();',
      },
      {
        name: 'another request gets the first answer',
        from: '    if (earlier.request_hash !== request_hash) throw reusedKeyError();\n',
        to: '',
      },
      {
        name: 'an answer that cannot be kept is sent all the same',
        from: '      throw notKeptYetError(error);\n',
        to: '',
      },
      {
        name: 'the room of an organization has no bound',
        from: '    if (bytes < max_bytes * TRIM_SHARE) return;\n',
        to: '    if (bytes < Number.MAX_SAFE_INTEGER) return;\n',
      },
    ],
  },
  {
    path: 'src/inference/repeats/answer-record.ts',
    tests: [UNIT],
    mutants: [
      {
        name: 'a large answer is kept',
        from: "if (this.size > MAX_KEPT_BYTES) this.drop('too_large');\n    else if",
        to: 'if',
      },
    ],
  },
  {
    path: 'src/inference/repeats/recorder.ts',
    tests: [STREAMS],
    mutants: [
      {
        name: 'the end of a stream is sent before the answer is kept',
        from: '        await this.keep(held);\n',
        to: '        void this.keep(held);\n',
      },
    ],
  },
  {
    path: 'src/inference/repeats/client-relay.ts',
    tests: [STREAMS],
    mutants: [
      {
        name: 'a stream waits for a client that has left',
        hangs: true,
        from: 'untilAborted(this.room.promise, this.client)',
        to: 'this.room.promise',
      },
      {
        name: 'a stream does not wait for a slow client',
        from: '    this.room ??= Promise.withResolvers();\n',
        to: '    if (this.room === undefined) return undefined;\n',
      },
    ],
  },
  {
    path: 'db/repeats/kept-answers.ts',
    tests: [UNIT],
    mutants: [
      {
        name: 'an error without a charge is kept',
        from: " and state = 'running' and not exists (select from charged)",
        to: ' and false',
      },
      {
        name: 'an expired answer is never replaced',
        from: 'where earlier.expires_at <= weir_now()`;',
        to: 'where false`;',
      },
    ],
  },
  {
    path: 'src/inference/tasks/tasks.ts',
    tests: ['test/http/repeats.test.ts'],
    mutants: [
      {
        name: 'another API key gets the task of an idempotency key',
        from: '    key_id: request.key.id,\n',
        to: '    key_id: request.key.organization_id,\n',
      },
    ],
  },
];
