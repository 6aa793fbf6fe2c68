import { Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from './library.ts';

const closed = { additionalProperties: false };
/** PostgreSQL's text type stores every character except NUL; a mail header takes no control character. */
const NO_CONTROL = '^[^\\u0000-\\u001f\\u007f]*$';

/**
 * An e-mail address as people write it; `emailOf` returns it as it is stored. The library takes no other
 * characters, so a person with another address could never sign in.
 */
export const EMAIL = Type.String({
  pattern:
    "^(?!\\.)(?!.*\\.\\.)[A-Za-z0-9_'+.-]{0,63}[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9-]*\\.)+[A-Za-z]{2,}$",
  maxLength: 254,
  errorMessage: 'must be an e-mail address',
});

/** A password that is chosen. */
const NEW_PASSWORD = Type.String({
  minLength: MIN_PASSWORD_CHARS,
  maxLength: MAX_PASSWORD_CHARS,
  errorMessage: `must have ${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters`,
});

/** A password that is tried. */
const PASSWORD = Type.String({
  minLength: 1,
  maxLength: MAX_PASSWORD_CHARS,
  errorMessage: `must have 1 to ${MAX_PASSWORD_CHARS} characters`,
});

const PERSON_NAME = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: NO_CONTROL,
  errorMessage: 'must have 1 to 100 characters',
});

/** `POST /v1/auth/sign-in` */
export const SignInSchema = Type.Object({ email: EMAIL, password: PASSWORD }, closed);
export const validateSignIn = validator(SignInSchema);

/** `POST /v1/auth/password` */
export const PasswordSchema = Type.Object(
  { current_password: PASSWORD, new_password: NEW_PASSWORD },
  closed,
);
export const validatePassword = validator(PasswordSchema);

/** `POST /v1/auth/password-reset` */
export const PasswordResetSchema = Type.Object({ email: EMAIL }, closed);
export const validateReset = validator(PasswordResetSchema);

/** `POST /v1/auth/links/{link}` */
export const LinkUseSchema = Type.Object(
  {
    email: Type.Optional(EMAIL),
    name: Type.Optional(PERSON_NAME),
    password: Type.Optional(NEW_PASSWORD),
  },
  closed,
);
export const validateLinkUse = validator(LinkUseSchema);

/** A body without members. */
export const NothingSchema = Type.Object({}, closed);
export const validateNothing = validator(NothingSchema);

/** Returns an address as it is stored, so that one person has one spelling. */
export function emailOf(address: string): string {
  return address.toLowerCase();
}
