import type { MutatedFile } from '../mutant.ts';

export const TRANSPORT: readonly MutatedFile[] = [
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
    tests: ['test/upstreams/transport/http1/surplus.test.ts'],
    mutants: [
      {
        name: 'a connection is reused without a quiet moment',
        from: 'else this.settle(connection);',
        to: 'else this.keep(connection);',
      },
      {
        name: 'connections of a suspended host are reused',
        from: ' || conduct.isSuspended) {',
        to: ') {',
      },
      {
        name: 'surplus bytes leave the other connections of the host open',
        from: 'for (const connection of [...this.idle.keys(), ...this.settling]) connection.abort();',
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
        from: 'if (Number(content_length) > max_bytes) throw tooLargeError();',
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
];
