import type { Sql } from '../../../db/client.ts';
import type { Mail } from '../../mail/mailer.ts';
import type { WrongCredentials } from '../auth/wrong-credentials.ts';
import type { SignInLibrary } from './library.ts';
import type { PersonSessions } from './person-sessions.ts';

/** What the routes about people need. */
export interface PeopleParts {
  readonly sql: Sql;
  readonly sessions: PersonSessions;
  readonly library: SignInLibrary;
  readonly wrongCredentials: Pick<WrongCredentials, 'check'>;
  /** The origin at which clients reach Weir (WEIR_PUBLIC_URL). */
  readonly public_url: string | undefined;
  /** Sends mails. Missing if no SMTP server is configured; then links are shown instead. */
  readonly mailer: { send(mail: Mail): Promise<void> } | undefined;
  /** True if people can sign in at an identity provider. */
  readonly has_oidc: boolean;
  /** Called with an error of work that no request waits for. */
  readonly onError: (error: unknown) => void;
}
