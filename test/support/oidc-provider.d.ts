/** The part of the package `oidc-provider` that the tests use. The package has no types. */
declare module 'oidc-provider' {
  interface Account {
    accountId: string;
    claims(): Record<string, unknown> & { sub: string };
  }

  class Provider {
    constructor(
      issuer: string,
      configuration: {
        clients: Record<string, unknown>[];
        claims: Record<string, string[]>;
        findAccount(context: unknown, sub: string): Account;
      },
    );
    listen(port: number, host: string, onListening: () => void): void;
  }

  // biome-ignore lint/style/noDefaultExport: the package has a default export.
  export default Provider;
}
