/** Gemini at Google Cloud: access tokens for service accounts, and generateContent with them. */
import { exportPKCS8, generateKeyPair, jwtVerify } from 'jose';
import type { Simulator } from '../exchange.ts';
import { googleRoute } from '../google/routes.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const MODEL = /^\/v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/google(\/models\/.+)$/;

let pair: Promise<CryptoKeyPair> | undefined;
/** The issued access tokens, with the account of each token. */
const tokens = new Map<string, string>();

/** `GET /service-account?account=ID` (for tests only), `POST /token`, and the models. */
export async function vertexRoute(
  simulator: Simulator,
  path: string,
  request: Request,
): Promise<Response> {
  const { origin, searchParams } = new URL(request.url);
  const token_uri = `${origin}/vertex/token`;
  pair ??= generateKeyPair('RS256', { extractable: true }) as Promise<CryptoKeyPair>;
  const { privateKey, publicKey } = await pair;
  if (path === '/service-account') {
    const account = searchParams.get('account') ?? 'main';
    return Response.json({
      ...{ type: 'service_account', project_id: 'sim', private_key_id: 'SIM1', token_uri },
      client_email: `${account}@sim.iam.gserviceaccount.com`,
      private_key: await exportPKCS8(privateKey),
    });
  }
  if (path === '/token') {
    try {
      const form = new URLSearchParams(await request.text());
      const options = { algorithms: ['RS256'], audience: token_uri };
      const { payload } = await jwtVerify(form.get('assertion') ?? '', publicKey, options);
      const lasts = (payload.exp ?? 0) - (payload.iat ?? 0);
      if (payload['scope'] !== SCOPE || lasts > 3_600) throw new Error('a wrong claim');
      const access_token = `ya29.SIM${tokens.size}`;
      tokens.set(access_token, String(payload.iss).split('@')[0] ?? '');
      return Response.json({ access_token, expires_in: 3_599, token_type: 'Bearer' });
    } catch {
      const error_description = 'Invalid JWT Signature.';
      return Response.json({ error: 'invalid_grant', error_description }, { status: 400 });
    }
  }
  const model = MODEL.exec(path)?.[1];
  if (!model) return error(404, 'NOT_FOUND', 'The requested resource was not found.');
  const bearer = request.headers.get('authorization')?.slice('Bearer '.length) ?? '';
  const account = tokens.get(bearer);
  // An account's key works as an access token too, so that most tests need no access token.
  const key = account === undefined ? bearer : `sim-${account}`;
  if (!key.startsWith('sim-')) {
    const words = 'Request had invalid authentication credentials. Expected OAuth 2 access token.';
    return error(401, 'UNAUTHENTICATED', words);
  }
  const inner = new Request(request, { headers: { 'x-goog-api-key': key } });
  return googleRoute(simulator, model, inner);
}

function error(code: number, status: string, message: string): Response {
  return Response.json({ error: { code, message, status } }, { status: code });
}
