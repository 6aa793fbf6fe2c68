import { isObject } from '../../json/object.ts';

const REDACTED = '***';
/**
 * Only a credential with at least this many characters is replaced. Real keys are longer, and a
 * shorter text may also be part of ordinary words.
 */
const MIN_SECRET_CHARS = 8;
/** In a PEM private key, only lines of this length are secret. `-----END …` is shorter. */
const MIN_LINE_CHARS = 32;
/** The most keys whose written forms are remembered. */
const MAX_REMEMBERED = 1_000;

/** Names of request headers that carry a credential. */
const CREDENTIAL_HEADERS = /authorization|key|secret|token/i;

/** The headers of a request. */
type SentHeaders = Readonly<Record<string, string>>;

/**
 * Returns an upstream's error message with `***` for each credential: the key of the channel, and
 * the credentials in the headers of the request, e.g. a token that was made from the key. A
 * credential is also found in Base64, URL-encoded, or with the escapes of a JSON string.
 */
export function redact(text: string, api_key: string, headers: SentHeaders = {}): string {
  let redacted = text;
  // A token may contain a part of the key, so the token is removed first, as a whole.
  for (const name in headers) {
    const credential = CREDENTIAL_HEADERS.test(name) ? credentialIn(headers[name] ?? '') : '';
    if (credential === '' || credential === api_key) continue;
    for (const form of writtenForms(credential)) redacted = redacted.replaceAll(form, REDACTED);
  }
  for (const form of formsOf(api_key)) redacted = redacted.replaceAll(form, REDACTED);
  return redacted;
}

/** Returns the value of a header without its scheme: `Bearer a` → `a`. */
function credentialIn(value: string): string {
  return value.slice(value.indexOf(' ') + 1);
}

const remembered = new Map<string, readonly string[]>();

/** Returns all texts that show a channel's key or a part of it, the longest first. */
function formsOf(api_key: string): readonly string[] {
  const known = remembered.get(api_key);
  if (known) return known;
  const forms = secretsIn(api_key)
    .flatMap(writtenForms)
    .sort((a, b) => b.length - a.length);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(api_key, forms);
  return forms;
}

/**
 * Returns the secrets that a channel's key consists of: the key itself; the parts of a key such as
 * `ACCESS_KEY_ID:SECRET_ACCESS_KEY`; the lines of the private key in the JSON of a service account.
 */
function secretsIn(api_key: string): string[] {
  const key = api_key.trim();
  if (!key.startsWith('{')) return key.includes(':') ? [key, ...key.split(':')] : [key];
  const { private_key } = parsed(key);
  const lines = typeof private_key === 'string' ? private_key.split('\n') : [];
  return [key, ...lines.filter((line) => line.length >= MIN_LINE_CHARS)];
}

function parsed(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function writtenForms(secret: string): string[] {
  if (secret.length < MIN_SECRET_CHARS) return [];
  const url = encodeURIComponent(secret);
  const json = inJson(secret);
  return [
    ...new Set([
      secret,
      ...[json, inJson(json), json.replaceAll('/', String.raw`\/`)],
      ...[url, url.replaceAll(/%../g, (code) => code.toLowerCase())],
      ...base64Forms(secret),
    ]),
  ];
}

/** Returns how a JSON string writes the text, without the quotation marks. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

const BITS_OF_BYTE = 8;
const BITS_OF_CHAR = 6;

/**
 * Returns how Base64 writes the secret inside a longer text, e.g. in `user:secret`. Three bytes become
 * four characters, so there are three forms. Characters that also depend on neighbours are left out.
 */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((bytes_before) => {
    const bytes = Buffer.concat([Buffer.alloc(bytes_before), Buffer.from(secret)]);
    const start = Math.ceil((bytes_before * BITS_OF_BYTE) / BITS_OF_CHAR);
    const end = Math.floor((bytes.byteLength * BITS_OF_BYTE) / BITS_OF_CHAR);
    return (['base64', 'base64url'] as const).map((form) => bytes.toString(form).slice(start, end));
  });
}
