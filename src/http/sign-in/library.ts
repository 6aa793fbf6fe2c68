import pLimit from 'p-limit';
import type { Orm } from '../../../db/client.ts';

import {
  personAccount,
  personSession,
  person as personTable,
  signInState,
} from '../../../db/people/schema.ts';
import { newId } from '../../../db/secrets.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { COOKIE_PREFIX } from '../auth/cookies.ts';

const DAY_S = 24 * 3_600;
/** A session ends after this time without a visit. */
const SESSION_S = 7 * DAY_S;
/**
 * A hash takes 50 ms of one core and 16 MB. More at once would delay the calls of everybody, because the
 * threads that hash also read files.
 */
const HASHES_AT_ONCE = 2;
/** How long the identity provider may take to say its settings. */
const PROVIDER_MS = 5_000;
/** Passwords that may wait for their hash. */
const MAX_WAITING = 100;
/** The provider id of the identity provider. The address of its callback does not contain it. */
const OIDC_PROVIDER = 'oidc';
/** The header in which the library finds the address of the client. Clients cannot send it. */
const ADDRESS_HEADER = 'x-weir-client';
export const MIN_PASSWORD_CHARS = 12;
export const MAX_PASSWORD_CHARS = 128;

/** An identity provider that speaks OpenID Connect. */
export interface OidcSettings {
  /** The address below which `/.well-known/openid-configuration` is. */
  readonly issuer: string;
  readonly client_id: string;
  readonly client_secret: string;
}

/** The parts of `SignInLibrary`. */
export interface SignInLibraryParts {
  readonly orm: Orm;
  /** Signs cookies; 32 bytes, the same on all replicas. */
  readonly key: Uint8Array;
  /** The origin at which clients reach Weir (WEIR_PUBLIC_URL). */
  readonly public_url: string | undefined;
  readonly oidc: OidcSettings | undefined;
  /** True if a stranger with this address, whose identity provider verified it, may become a person. */
  readonly isInvited: (email: string) => Promise<boolean>;
  /** True if the person has an account of this provider already. */
  readonly hasAccount: (person_id: string, provider_id: string) => Promise<boolean>;
  /** Called with what the library has to say. */
  readonly warn: (message: string) => void;
}

/** What the library needs to know of a request. */
export interface SignInClient {
  readonly cookie: string | null;
  readonly user_agent: string | null;
  readonly address: string;
}

/** A session and its person, as the library reads them. */
export interface FoundSession {
  readonly id: string;
  readonly person_id: string;
  readonly email: string;
  readonly expires_at: Date;
}

/**
 * The library that hashes passwords, makes sessions and cookies, and talks to the identity provider
 * (docs/decisions/sign-in.md). It is loaded when somebody first signs in or sends a cookie, so that it
 * delays no start.
 */
export class SignInLibrary {
  private opened: ReturnType<typeof openLibrary> | undefined;
  private openedOidc: ReturnType<typeof openLibrary> | undefined;

  constructor(private readonly parts: SignInLibraryParts) {}

  private open() {
    this.opened ??= openLibrary(this.parts, undefined).catch((error: unknown) => {
      this.opened = undefined;
      throw error;
    });
    return this.opened;
  }

  /**
   * Opens the library once more, for sign-ins at the identity provider. There it first reads the settings
   * of the provider, without a time limit of its own, so nothing else may wait for it.
   */
  private async openOidc() {
    this.openedOidc ??= openLibrary(this.parts, this.parts.oidc);
    const library = await this.openedOidc;
    const patience = Bun.sleep(PROVIDER_MS).then(() => undefined);
    if (await Promise.race([library.$context, patience])) return library;
    this.openedOidc = undefined;
    throw providerAway();
  }

  /** Returns the cookies of a new session; undefined if the address or the password is wrong. */
  async signIn(
    email: string,
    password: string,
    client: SignInClient,
  ): Promise<string[] | undefined> {
    const { api } = await this.open();
    const body = { email, password };
    const answer = await api.signInEmail({ body, headers: headersOf(client), asResponse: true });
    if (answer.status === 401) return undefined;
    return cookiesOf(await requireSuccess(answer));
  }

  /** Returns the hash of a password. */
  async hash(password: string): Promise<string> {
    const context = await (await this.open()).$context;
    return context.password.hash(password);
  }

  /** True if a hash is that of the password. */
  async verify(hash: string, password: string): Promise<boolean> {
    const context = await (await this.open()).$context;
    return context.password.verify({ hash, password });
  }

  /** Returns the session of a cookie; undefined if it is forged or has ended. */
  async find(client: SignInClient): Promise<FoundSession | undefined> {
    const { api } = await this.open();
    const query = { disableRefresh: true };
    const answer = await api.getSession({ query, headers: headersOf(client), asResponse: true });
    return readSession(await requireSuccess(answer));
  }

  /** Returns the cookies of a session that is prolonged, if it is older than a day. */
  async refresh(client: SignInClient): Promise<string[]> {
    const { api } = await this.open();
    const answer = await api.getSession({ headers: headersOf(client), asResponse: true });
    return cookiesOf(await requireSuccess(answer));
  }

  /** Returns the cookies that make a browser forget its session. */
  async forget(client: SignInClient): Promise<string[]> {
    const { api } = await this.open();
    const answer = await api.signOut({ headers: headersOf(client), asResponse: true });
    return cookiesOf(await requireSuccess(answer));
  }

  /** Begins a sign-in at the identity provider. Returns its address, and the cookies of the attempt. */
  async startOidc(
    return_to: string,
    client: SignInClient,
  ): Promise<{ readonly url: string; readonly cookies: string[] }> {
    const { api } = await this.openOidc();
    const answer = await api.signInSocial({
      body: { provider: OIDC_PROVIDER, callbackURL: return_to, disableRedirect: true },
      ...{ headers: headersOf(client), asResponse: true },
    });
    if (answer.status === 404) throw providerAway();
    const { url } = (await (await requireSuccess(answer)).clone().json()) as { url: string };
    return { url, cookies: cookiesOf(answer) };
  }

  /**
   * Ends a sign-in at the identity provider. Returns the cookies of the new session and where its person
   * goes, or what went wrong.
   */
  async finishOidc(
    query: Record<string, string>,
    client: SignInClient,
  ): Promise<{ readonly return_to: string; readonly cookies: string[] } | { error: string }> {
    const { api } = await this.openOidc();
    const answer = await api.callbackOAuth({
      ...{ method: 'GET', params: { id: OIDC_PROVIDER }, query },
      ...{ headers: headersOf(client), asResponse: true },
    });
    const return_to = answer.headers.get('location');
    if (answer.status !== 302 || return_to === null) {
      await requireSuccess(answer);
      return { error: 'no_redirect' };
    }
    const cookies = cookiesOf(answer);
    const isSignedIn = cookies.some((cookie) => /session_token=[^;]/.test(cookie));
    if (isSignedIn) return { return_to, cookies };
    return { error: new URL(return_to, 'http://unused.invalid').searchParams.get('error') ?? '' };
  }
}

async function openLibrary(parts: SignInLibraryParts, oidc: OidcSettings | undefined) {
  const [{ betterAuth }, { drizzleAdapter }, { genericOAuth }, passwords] = await Promise.all([
    import('better-auth/minimal'),
    import('@better-auth/drizzle-adapter'),
    import('better-auth/plugins/generic-oauth'),
    import('better-auth/crypto'),
  ]);
  const { orm, key, public_url, isInvited, hasAccount, warn } = parts;
  const origin = public_url?.replace(/\/+$/, '');
  const turns = pLimit(HASHES_AT_ONCE);
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (turns.pendingCount < MAX_WAITING) return turns(work);
    const message = 'Too many people are signing in now.';
    throw new WeirError('service_unavailable', message, { retry_after: 1 });
  };
  const isSecure = origin?.startsWith('https://') ?? false;
  return betterAuth({
    // The library makes addresses only for the identity provider, which needs WEIR_PUBLIC_URL.
    baseURL: origin === undefined ? 'http://localhost' : new URL(origin).origin,
    basePath: '/v1/auth',
    secret: Buffer.from(key).toString('base64url'),
    telemetry: { enabled: false },
    // Weir counts attempts itself, for all replicas and for each address of a mail.
    rateLimit: { enabled: false },
    logger: { level: 'warn', log: (_level, message) => warn(message) },
    database: drizzleAdapter(orm, {
      provider: 'pg',
      transaction: true,
      schema: {
        ...{ person: personTable, person_session: personSession },
        ...{ person_account: personAccount, sign_in_state: signInState },
      },
    }),
    user: {
      modelName: 'person',
      fields: {
        emailVerified: 'email_verified',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    session: {
      modelName: 'person_session',
      expiresIn: SESSION_S,
      updateAge: DAY_S,
      fields: {
        userId: 'person_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    account: {
      modelName: 'person_account',
      fields: {
        accountId: 'account_id',
        providerId: 'provider_id',
        userId: 'person_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
      updateAccountOnSignIn: false,
      // Whoever was shown an invitation for a stranger's address could otherwise share the stranger's
      // account: he would set the password first, and the stranger would sign in by the provider later.
      accountLinking: { enabled: true, requireLocalEmailVerified: true },
    },
    verification: {
      modelName: 'sign_in_state',
      fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    emailAndPassword: {
      enabled: true,
      // People come by invitation only.
      disableSignUp: true,
      minPasswordLength: MIN_PASSWORD_CHARS,
      maxPasswordLength: MAX_PASSWORD_CHARS,
      password: {
        hash: (password) => inTurn(() => passwords.hashPassword(password)),
        verify: (pair) => inTurn(() => passwords.verifyPassword(pair)),
      },
    },
    databaseHooks: {
      user: {
        create: {
          before: async ({ email, emailVerified }) =>
            emailVerified === true && (await isInvited(email.toLowerCase())) ? undefined : false,
        },
      },
      account: {
        create: {
          // An address may pass to somebody else, so a second identity with it gets no account.
          // Weir calls nothing at the identity provider, so it keeps no tokens of it.
          before: async (account) =>
            (await hasAccount(account.userId, account.providerId))
              ? false
              : { data: { ...account, ...NO_TOKENS } },
        },
      },
    },
    plugins: oidc === undefined ? [] : [genericOAuth({ config: [providerOf(oidc, origin)] })],
    advanced: {
      cookiePrefix: COOKIE_PREFIX,
      useSecureCookies: isSecure,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', secure: isSecure },
      database: { generateId: ({ model }) => newId(ID_KINDS[model] ?? 'account') },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      // Weir checks the origin itself, on all its routes (same-origin.ts).
      disableCSRFCheck: true,
    },
  });
}

/** The kinds of ids of the library's tables. Those of begun sign-ins are never shown. */
const ID_KINDS: Readonly<Record<string, 'person' | 'session'>> = {
  ...{ user: 'person', session: 'session' },
};

const NO_TOKENS = {
  ...{ accessToken: null, refreshToken: null, idToken: null },
  ...{ accessTokenExpiresAt: null, refreshTokenExpiresAt: null, scope: null },
};

function providerOf({ issuer, client_id, client_secret }: OidcSettings, origin = '') {
  return {
    providerId: OIDC_PROVIDER,
    discoveryUrl: `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`,
    requireIdTokenVerification: true,
    clientId: client_id,
    clientSecret: client_secret,
    redirectURI: `${origin}/v1/auth/oidc/callback`,
    scopes: ['openid', 'email', 'profile'],
    pkce: true,
  };
}

function headersOf({ cookie, user_agent, address }: SignInClient): Headers {
  const headers = new Headers({ [ADDRESS_HEADER]: address });
  if (cookie !== null) headers.set('cookie', cookie);
  if (user_agent !== null) headers.set('user-agent', user_agent);
  return headers;
}

const cookiesOf = ({ headers }: Response): string[] => headers.getSetCookie();

async function requireSuccess(answer: Response): Promise<Response> {
  if (answer.status < 400) return answer;
  const cause = new Error(`the sign-in library answered ${answer.status} ${await answer.text()}`);
  const details = { retry_after: 2 };
  throw new WeirError('service_unavailable', 'Signing in does not work now.', details, cause);
}

function providerAway(): WeirError {
  const message = 'The identity provider does not answer.';
  return new WeirError('service_unavailable', message, { retry_after: 5 });
}

async function readSession(answer: Response): Promise<FoundSession | undefined> {
  const found = (await answer.json()) as {
    session: { id: string; expiresAt: string };
    user: { id: string; email: string };
  } | null;
  if (!found) return undefined;
  const { session, user } = found;
  const expires_at = new Date(session.expiresAt);
  return { id: session.id, person_id: user.id, email: user.email, expires_at };
}
