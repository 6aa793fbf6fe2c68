import type { MutatedFile } from '../mutant.ts';

const ATTACKS = 'test/http/sign-in/attacks.test.ts';
const PEOPLE = 'test/http/people/people.test.ts';
const OIDC = 'test/http/sign-in/oidc.test.ts';

export const PEOPLE_MUTANTS: readonly MutatedFile[] = [
  {
    path: 'db/people/links.ts',
    tests: [ATTACKS],
    mutants: [
      {
        name: 'a link works again after its use',
        from: "case when used_at is not null then 'used' when",
        to: 'case when',
      },
      {
        name: 'a link works for ever',
        from: "when expires_at <= weir_now() then 'expired' else",
        to: 'else',
      },
    ],
  },
  {
    path: 'src/http/people/members.ts',
    tests: [PEOPLE],
    mutants: [
      {
        name: 'an admin removes an owner',
        from: 'if (!mayAssign(rights, before.role)) throw tooHigh(before.role);',
        to: '',
      },
      {
        name: 'whoever is removed comes back by an older invitation',
        from: 'await revokeInvitationsOf(tx, organization_id, email);',
        to: '',
        tests: [ATTACKS],
      },
    ],
  },
  {
    path: 'src/http/sign-in/links.ts',
    tests: [ATTACKS],
    mutants: [
      {
        name: 'the answer to a request for a new password waits for the work',
        from: 'this.mailReset(parts, context, email).catch(onError);',
        to: 'await this.mailReset(parts, context, email).catch(onError);',
      },
      {
        name: 'a new password leaves the other links',
        from: "await revokePending(tx, 'password', person.email);",
        to: '',
      },
    ],
  },
  {
    path: 'src/http/sign-in/oidc.ts',
    tests: [OIDC],
    mutants: [
      {
        name: 'a sign-in ends at any address',
        from: 'if (!OWN_PATH.test(page) || page.length > 2_000) {',
        to: 'if (page.length > 2_000) {',
      },
    ],
  },
  {
    path: 'src/http/sign-in/library.ts',
    tests: [OIDC],
    mutants: [
      {
        name: 'a sign-in at the provider joins an account that nobody proved',
        from: 'requireLocalEmailVerified: true',
        to: 'requireLocalEmailVerified: false',
      },
      {
        name: 'an address that nobody proved gets in',
        from: 'emailVerified === true && (await isInvited(email.toLowerCase()))',
        to: '(await isInvited(email.toLowerCase()))',
      },
      {
        name: 'strangers get in',
        from: 'emailVerified === true && (await isInvited(email.toLowerCase()))',
        to: 'emailVerified === true',
      },
    ],
  },
];
