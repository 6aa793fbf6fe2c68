import type { MutatedFile } from '../mutant.ts';

export const ACCOUNTS: readonly MutatedFile[] = [
  {
    path: 'db/audit/log.ts',
    tests: ['test/db/audit/log.test.ts'],
    mutants: [
      {
        name: 'an organization sees which operator changed it',
        from: 'isOperator ? { ...change, actor: shownOperator(actor) } : change',
        to: 'change',
      },
      {
        name: 'what an operator does is in one log only',
        from: 'if (!isOperator) return seq;',
        to: 'return seq;',
      },
      {
        name: 'two writers take the same number',
        from: ' for update`;',
        to: '`;',
      },
    ],
  },
  {
    path: 'db/audit/verify.ts',
    tests: ['test/db/audit/log.test.ts'],
    mutants: [
      {
        name: 'missing last lines are not noticed',
        from: 'head ? seq >= head.seq : seq === 0',
        to: 'true',
      },
      {
        name: 'a changed line is not noticed',
        from: ' || hashOf(line) !== hash',
        to: '',
      },
    ],
  },
  {
    path: 'src/access/actions.ts',
    tests: ['test/access/actions.test.ts'],
    mutants: [
      {
        name: 'a token calls models',
        from: 'if (needs_person) return false;',
        to: '',
      },
      {
        name: 'any scope is good for everything',
        from: "scope === 'admin' || scopes.includes(scope)",
        to: 'true',
      },
      {
        name: 'an operator token that reads may write',
        from: "(action === 'operator.read' && scopes.includes('read'))",
        to: "scopes.includes('read')",
      },
    ],
  },
  {
    path: 'src/http/auth/authentication.ts',
    tests: ['test/http/auth/session-calls.test.ts'],
    mutants: [
      {
        name: 'a viewer calls models',
        from: "requirePermission(manager.rights, 'keys.use');",
        to: '',
      },
    ],
  },
  {
    path: 'src/http/auth/credentials.ts',
    tests: ['test/http/auth/session-calls.test.ts'],
    mutants: [
      {
        name: 'the cookie comes before a wrong key',
        from: ' || KEY_HEADERS.some((name) => headers.has(name))',
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/keys/key-cache.ts',
    tests: ['test/http/auth/session-calls.test.ts'],
    mutants: [
      {
        name: 'a person uses the key of another organization',
        from: 'if (record?.organization_id !== organization_id) return undefined;',
        to: '',
      },
    ],
  },
  {
    path: 'src/http/auth/permission.ts',
    tests: ['test/http/management/permissions.test.ts'],
    mutants: [
      {
        name: 'a route checks no right',
        from: 'if (may(rights, action)) return;',
        to: 'return;',
      },
      {
        name: 'every operator token may write',
        from: "isOperation(action) ? action : 'operator.read'",
        to: "'operator.read'",
      },
    ],
  },
  {
    path: 'src/http/auth/same-origin.ts',
    tests: ['test/http/sign-in/attacks.test.ts'],
    mutants: [
      {
        name: 'a page of another site may send changes',
        from: "if (origin === null ? isOwnSite(headers.get('sec-fetch-site')) : isOwn) return;",
        to: 'return;',
      },
      {
        name: 'a page that hides its origin may send changes',
        from: "if (origin === null ? isOwnSite(headers.get('sec-fetch-site')) : isOwn) return;",
        to: 'if (origin === null || isOwn) return;',
      },
    ],
  },
  {
    path: 'db/people/links.ts',
    tests: ['test/http/sign-in/attacks.test.ts'],
    mutants: [
      {
        name: 'two requests at once use one link twice',
        from: " = 'pending'\n    returning",
        to: ' is not null\n    returning',
      },
    ],
  },
  {
    path: 'src/http/sign-in/by-password.ts',
    tests: ['test/http/sign-in/attacks.test.ts'],
    mutants: [
      {
        name: 'attempts on one account from many addresses have no bound',
        from: 'if (retry_after > 0) {',
        to: 'if (retry_after < 0) {',
      },
    ],
  },
  {
    path: 'src/http/sign-in/session-reader.ts',
    tests: ['test/http/sign-in/session-reader.test.ts'],
    mutants: [
      {
        name: 'a session that was read once is let in after its end',
        from: 'cache: false',
        to: 'cache: true',
      },
      {
        name: 'a query that hangs holds up all others',
        from: 'Promise.race([reading.catch(() => undefined), sleep(MAX_SESSION_WAIT_MS)])',
        to: 'reading.catch(() => undefined)',
      },
    ],
  },
  {
    path: 'src/http/sign-in/person-sessions.ts',
    tests: ['test/http/people/people.test.ts'],
    mutants: [
      {
        name: 'every person is an operator',
        from: 'if (found.person.is_operator) return',
        to: 'if (found) return',
        tests: ['test/http/sign-in/attacks.test.ts'],
      },
      {
        name: 'a person gets the first organization, whichever the request names',
        from: 'const found = wanted === null ? first : organizations.find(({ id }) => id === wanted);',
        to: 'const found = first;',
        tests: ['test/http/sign-in/sign-in.test.ts'],
      },
    ],
  },
  {
    path: 'src/http/people/members.ts',
    tests: ['test/http/people/people.test.ts'],
    mutants: [
      {
        name: 'the last owner can leave',
        from: "if (role !== 'owner' || (await hasOtherOwner(tx, organization_id, person_id))) return;",
        to: 'return;',
      },
      {
        name: 'a removed person stays signed in',
        from: 'const ended_sessions = await endSessions(tx, person_id);',
        to: 'const ended_sessions = 0;',
      },
      {
        name: 'an admin can make owners',
        from: 'if (!mayAssign(rights, role)) throw tooHigh(role);',
        to: '',
      },
      {
        name: 'two owners can remove each other',
        from: 'await lockMembers(tx, organization_id);',
        to: '',
      },
    ],
  },
  {
    path: 'src/http/management/notices.ts',
    tests: ['test/http/management/notices.test.ts'],
    mutants: [
      {
        name: 'every caller gets every notice',
        from: 'may(rights, action)',
        to: 'true',
      },
      {
        name: 'held money is no money',
        from: 'balance.available + balance.held',
        to: 'balance.available',
      },
    ],
  },
  {
    path: 'src/http/management/find.ts',
    tests: ['test/http/management/find.test.ts'],
    mutants: [
      {
        name: 'a caller finds what he may not see',
        from: '!found || !may(manager.rights, SHOWN[found.kind][1])',
        to: '!found',
      },
    ],
  },
  {
    path: 'db/views/views.ts',
    tests: ['test/http/management/views.test.ts'],
    mutants: [
      {
        name: 'everybody sees all views',
        from: 'person_id is null or person_id = ',
        to: 'true or person_id = ',
      },
    ],
  },
];
