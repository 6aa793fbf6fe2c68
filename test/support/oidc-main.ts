/**
 * An identity provider for tests (the certified package oidc-provider), as a process of its own. Whoever signs
 * in as `ada` has the address `ada@example.com`; a name with `unverified` has an address that nobody proved.
 */
import Provider from 'oidc-provider';

const [port = '', client_id = '', client_secret = '', redirect_uri = ''] = process.argv.slice(2);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      ...{ client_id, client_secret, redirect_uris: [redirect_uri] },
      token_endpoint_auth_method: 'client_secret_post',
    },
  ],
  claims: { email: ['email', 'email_verified'], profile: ['name'] },
  findAccount: (_context: unknown, sub: string) => ({
    accountId: sub,
    claims: () => ({
      ...{ sub, name: sub, email: `${sub.split('.')[0]}@example.com` },
      email_verified: !sub.includes('unverified'),
    }),
  }),
});
provider.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
