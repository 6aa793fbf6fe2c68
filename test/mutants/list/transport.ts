import type { MutatedFile } from '../mutant.ts';

export const TRANSPORT: readonly MutatedFile[] = [
  {
    path: 'src/upstreams/transport/body-budget.ts',
    tests: ['test/upstreams/transport/body-budget.test.ts', 'test/http/body-budget.test.ts'],
    mutants: [
      {
        name: 'one key may fill the budget of bodies',
        from: 'if (held_bytes > free_bytes * (isSmall ? SMALL_BODY_FACTOR : 1))',
        to: 'if (false)',
      },
      {
        name: 'small bodies have the share of large ones',
        from: 'isSmall ? SMALL_BODY_FACTOR : 1',
        to: '1',
      },
      {
        name: 'a stream gives back the bytes of its request at once',
        from: 'if (this.users === 0) this.keepOnly(0);',
        to: 'this.keepOnly(0);',
      },
      {
        name: 'pieces that arrive after a refusal stay counted',
        from: "if (this.hasEnded) throw new Error('the request has ended');",
        to: '',
      },
    ],
  },
  {
    path: 'src/http/unread-body.ts',
    tests: ['test/http/unread-body.test.ts'],
    mutants: [
      {
        name: 'a refused client has no time to read its answer',
        from: 'LINGER_MS = 1_000',
        to: 'LINGER_MS = 0',
      },
      {
        name: 'after some refused bodies no client gets time to read its answer',
        from: 'lingering -= 1;',
        to: '',
      },
    ],
  },
  {
    path: 'src/http/body-bytes.ts',
    tests: ['test/http/body-budget.test.ts', 'test/http/body.test.ts'],
    mutants: [
      {
        name: 'a declared body is counted when it has arrived',
        from: 'if (declared_bytes > 0) body.add(declared_bytes);',
        to: '',
      },
      {
        name: 'a body without a room in the budget is not too large',
        from: 'Math.min(limits.max_bytes, counted.max_body_bytes)',
        to: 'limits.max_bytes',
      },
    ],
  },
  {
    path: 'src/http/endpoint.ts',
    tests: ['test/http/body-budget.test.ts'],
    mutants: [
      { name: 'a request keeps its bytes', from: '      bytes.end();\n', to: '' },
      {
        name: 'a large answer is given back before its client reads it',
        from: 'if (bytes.isLarge)',
        to: 'if (false)',
      },
    ],
  },
  {
    path: 'src/http/own-headers.ts',
    tests: ['test/http/own-headers.test.ts'],
    mutants: [
      {
        name: 'an answer has the id of the call before',
        from: "    headers.set('x-request-id', request_id);\n",
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/shared-headers.ts',
    tests: ['test/http/own-headers.test.ts'],
    mutants: [
      {
        name: 'an answer without own headers has those of another call',
        from: 'if (!own) return new Response(body, this.shared);',
        to: 'if (!own) return new Response(body, this.complete ?? this.shared);',
      },
    ],
  },
  {
    path: 'src/http/rate-limit-headers.ts',
    tests: ['test/http/own-headers.test.ts'],
    mutants: [
      {
        name: 'an answer without a limit shows that of another call',
        from: 'for (const name of Object.values(names)) headers.delete(name);',
        to: '',
      },
    ],
  },
  {
    path: 'src/upstreams/transport/deadlines.ts',
    tests: ['test/upstreams/transport/deadlines.test.ts'],
    mutants: [
      {
        name: 'a canceled deadline keeps its call until the next check',
        from: '    this.isOver = true;\n    unwatch(this);\n',
        to: '    this.isOver = true;\n',
      },
    ],
  },
  {
    path: 'src/upstreams/transport/platform-fetch.ts',
    tests: ['test/upstreams/transport', 'test/upstreams/generation/submissions.test.ts'],
    mutants: [
      { name: 'fetch follows redirects', from: "    redirect: 'manual',\n", to: '' },
      {
        name: 'fetch lets the environment disable TLS checks',
        from: '    tls: TLS_SETTINGS,\n',
        to: '',
      },
      {
        name: 'fetch reuses connections for submissions',
        from: 'keepalive: may_repeat',
        to: 'keepalive: true',
      },
      {
        name: 'fetch accepts a head of any length',
        from: 'if (head_bytes > MAX_HEAD_BYTES) {',
        to: 'if (false) {',
      },
      {
        name: 'fetch does not tell that a request was not sent',
        from: "UNSENT_CODES.test(codeOf(error) ?? '')",
        to: 'false',
      },
    ],
  },
  {
    path: 'src/upstreams/transport/http1/client.ts',
    tests: ['test/upstreams/transport', 'test/upstreams/generation/submissions.test.ts'],
    mutants: [
      {
        name: 'a submission uses an idle connection',
        from: 'this.may_repeat ? this.origin.takeIdle() : undefined',
        to: 'this.origin.takeIdle()',
      },
      {
        name: 'every failed request counts as not sent',
        from: 'this.isUnsent() ? new',
        to: 'true ? new',
      },
      {
        name: 'a request is sent again after a part of its response',
        from: ' && this.connection?.isUnanswered === true',
        to: '',
      },
    ],
  },
  {
    path: 'src/upstreams/transport/http1/pool.ts',
    tests: [
      'test/upstreams/transport/http1/surplus.test.ts',
      'test/upstreams/transport/http1/client.test.ts',
    ],
    mutants: [
      {
        name: 'a connection is reused without a quiet moment',
        from: 'else this.settle(connection);',
        to: 'else this.keep(connection);',
      },
      {
        name: 'connections of a suspended host stay idle',
        from: ' || conduct.isSuspended) {',
        to: ') {',
      },
      {
        name: 'an idle connection of a suspended host is reused',
        from: 'if (this.conduct.isSuspended) return undefined;',
        to: '',
      },
      {
        name: 'surplus bytes leave the other connections of the host open',
        from: 'for (const connection of [...this.stack.filter(isIdle), ...this.settling]) connection.abort();',
        to: '',
      },
      {
        name: 'a connection that closed while it was idle is used again',
        from: '    this.endIdle(connection);\n',
        to: '',
      },
      {
        name: 'idle connections are never counted down',
        from: '    this.idle_count -= 1;\n',
        to: '',
      },
    ],
  },
  {
    path: 'src/upstreams/transport/http1/connection.ts',
    tests: ['test/upstreams/transport/http1/surplus.test.ts'],
    mutants: [
      {
        name: 'bytes after a response are not held against the host',
        from: 'if (parser.hasSurplus) this.owner.onSurplus();',
        to: '',
      },
      {
        name: 'bytes on an idle connection are not held against the host',
        from: 'if (!isNotice && !this.isClosed) this.owner.onSurplus();',
        to: '',
      },
      {
        name: 'a response to a half-sent request is used on a reused connection',
        from: 'if (this.unsent && this.wasReused && !this.hasReceived) {',
        to: 'if (false) {',
      },
      {
        name: 'a call fails because of bytes that are no response to it',
        from: '        this.isForeign = true;\n',
        to: '',
      },
    ],
  },
  {
    path: 'src/upstreams/transport/bounded-body.ts',
    tests: ['test/upstreams/transport'],
    mutants: [
      {
        name: 'a declared length is not checked',
        hangs: true,
        from: 'if (body_bytes > max_bytes) throw tooLargeError();',
        to: '',
      },
      {
        name: 'the length of a compressed body counts as the length of its text',
        from: "!headers.has('content-encoding') && ",
        to: '',
      },
      {
        name: 'a body without a length has no bound',
        from: 'if (start.byteLength > max_bytes) throw tooLargeError();',
        to: '',
      },
    ],
  },
  {
    path: 'src/upstreams/translation/translated.ts',
    tests: ['test/upstreams/translation'],
    mutants: [
      {
        name: 'a template is trusted after another event',
        from: '    this.textTemplate = undefined;\n',
        to: '',
      },
      {
        name: 'a template is trusted without a test',
        from: 'if (isDeltaOf(events, piece)) this',
        to: 'this',
      },
    ],
  },
  {
    path: 'src/upstreams/translation/refusal.ts',
    tests: ['test/upstreams/translation/refusals.test.ts'],
    mutants: [
      {
        name: 'the words of a refusal are not compared with the client’s protocol',
        from: 'isClear && !isForeign(text.replaceAll(PLACE',
        to: 'true || !isForeign(text.replaceAll(PLACE',
      },
      {
        name: 'the upstream’s name of a parameter is shown to the client',
        from: '(param === null ? undefined : find(param)) ??',
        to: 'param ??',
      },
    ],
  },
  {
    path: 'src/upstreams/translation/responses-stream.ts',
    tests: ['test/upstreams/translation/error-events.test.ts'],
    mutants: [
      {
        name: 'the error event counts events that the client did not get',
        from: 'this.held_number ?? this.sequence_number',
        to: 'this.sequence_number',
      },
    ],
  },
  {
    path: 'src/inference/stream-error.ts',
    tests: ['test/inference/stream-error.test.ts'],
    mutants: [
      {
        name: 'a stall is no timeout_error',
        from: "if (known.failure === 'timeout') {",
        to: 'if (false) {',
      },
    ],
  },
];
