import { Type } from '@sinclair/typebox';
import { listBudgets } from '../../../db/budgets/rows.ts';
import type { Orm } from '../../../db/client.ts';
import { findKeyById, type KeyRecord } from '../../../db/keys.ts';
import type { OwnKeys } from '../../actors/channels/own-keys.ts';
import { errorBody } from '../../errors/render.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { DryRun, Planned } from '../../inference/dry-run.ts';
import type { KeyCache } from '../../inference/keys/key-cache.ts';
import { CallRecord } from '../../inference/records/call-record.ts';
import { GENERATION_PROTOCOLS } from '../../upstreams/generation/protocols.ts';
import { type BodyBudget, BytesInFlight } from '../../upstreams/transport/body-budget.ts';
import { createSolid } from '../3d/route.ts';
import { createSound } from '../audio/generations.ts';
import { speech } from '../audio/speech.ts';
import { MAX_INFERENCE_BODY_BYTES, readJsonObject } from '../body.ts';
import { chatCompletions } from '../chat/route.ts';
import { embeddings } from '../embeddings/route.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { geminiModels } from '../gemini/route.ts';
import { createImage } from '../images/route.ts';
import { messages } from '../messages/route.ts';
import { createMusic } from '../music/route.ts';
import { OPERATORS } from '../operators.ts';
import { rerank } from '../rerank/route.ts';
import { createResponse, type ResponsesDeps } from '../responses/route.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';
import { translations } from '../translations/route.ts';
import { createVideo } from '../videos/route.ts';
import { planRecord, softRecord } from './dry-run-record.ts';
import type { OperatorDeps } from './operator-parts.ts';

type CallDeps = GenerationRouteDeps & ResponsesDeps;

/** The routes that call models, with bodies of JSON. A dry run goes through the same handlers. */
const CALLS: Readonly<Record<string, (deps: CallDeps) => Handler>> = {
  '/v1/chat/completions': chatCompletions,
  '/v1/messages': messages,
  '/v1/responses': createResponse,
  '/v1/embeddings': embeddings,
  '/v1/rerank': rerank,
  '/v1/translations': translations,
  '/v1/audio/speech': speech,
  '/v1/images/generations': createImage,
  '/v1/videos/generations': createVideo,
  '/v1/music/generations': createMusic,
  '/v1/3d/generations': createSolid,
  '/v1/audio/generations': createSound,
};
/** The paths of Google's SDK end with a model and a method. */
const GEMINI = '/v1beta/models/';
const GENERATES = /:(?:g|streamG)enerateContent$/;

const closed = { additionalProperties: false };
const header = (description: string) =>
  Type.Optional(
    Type.String({
      ...{ description, pattern: '^[\\x20-\\x7e]{1,500}$' },
      errorMessage: 'must have 1 to 500 printable characters',
    }),
  );

/** `POST /v1/operator/dry-run` */
export const DryRunSchema = Type.Object(
  {
    api_key_id: Type.String({
      ...{ minLength: 1, maxLength: 200, pattern: '^[^\\u0000]*$' },
      errorMessage: 'must be the id of an API key',
    }),
    path: Type.String({
      ...{ minLength: 1, maxLength: 300, pattern: '^/v1[\\x21-\\x7e]*$' },
      errorMessage: 'must be the path of a call, e.g. /v1/chat/completions',
    }),
    body: Type.Unsafe<Record<string, unknown>>(
      Type.Object({}, { errorMessage: 'must be the body of the call, a JSON object' }),
    ),
    headers: Type.Optional(
      Type.Object(
        {
          'anthropic-version': header('By default `2023-06-01`.'),
          'anthropic-beta': header('Features that the call uses before they are final.'),
          'x-weir-image-response-format': header('`url` or `b64_json`.'),
        },
        closed,
      ),
    ),
  },
  closed,
);
const validate = validator(DryRunSchema);

/** What a dry run needs: the parts of the routes of calls, with those of operators. */
export interface DryRunRouteDeps extends CallDeps, OperatorDeps {
  readonly authentication: OperatorDeps['authentication'];
  readonly orm: Orm;
  readonly keys: Pick<KeyCache, 'getActiveById'>;
  readonly bodies: BodyBudget;
  /** Missing if this process has no own keys. */
  readonly ownKeys?: { readonly keys: Pick<OwnKeys, 'serving'> };
}

/**
 * `POST /v1/operator/dry-run`. Returns to which channels a call would go now, in which order and at
 * which price, and why not to the others. The call passes through the handler of its own route, up to
 * the point where it would be admitted. Nothing is sent, reserved or recorded.
 */
export function postDryRun(deps: DryRunRouteDeps): Handler {
  return async (context) => {
    await deps.authentication.requireOperator(context);
    const { request, bytes } = context;
    const read = await readJsonObject(request, bytes.of(OPERATORS), MAX_INFERENCE_BODY_BYTES);
    const asked = validate(read.value);
    const handlerOf = callAt(asked.path);
    const key = await findKeyById(deps.orm, asked.api_key_id);
    if (!key) throw keyNotFound();
    const { sql, channels, replica_id } = deps.operator();
    const dryRun = new DryRun(
      {
        ...{ sql, channels, own: deps.ownKeys?.keys, catalogue: deps.catalogue },
        ...{ protocols: GENERATION_PROTOCOLS, now: Date.now },
        budgets: await listBudgets(sql, key.organization_id),
      },
      deps.inference(),
    );
    const held = new BytesInFlight(deps.bodies);
    const head = {
      ...{ object: 'dry_run', replica: replica_id(), path: asked.path },
      ...{ api_key_id: key.id, organization_id: key.organization_id },
    };
    const call = callContext(context, held, asked);
    try {
      await handlerOf(dryDeps(deps, dryRun, key))(call);
    } catch (error) {
      if (!(error instanceof Planned || error instanceof WeirError)) throw error;
      const soft = softRecord(call.record);
      if (error instanceof Planned) {
        return json({ ...head, ...planRecord(error.plan, context), ...soft });
      }
      const refusal = errorBody(error, 'openai', context.request_id).error;
      const shown = { status: error.entry.status, ...refusal };
      return json({ ...head, ...REFUSED, ...soft, refusal: shown });
    } finally {
      held.end();
    }
    throw noCall();
  };
}

/** A call that is refused before its model is known. */
const REFUSED = { model: null, routing: null, price: null, channels: [], others: [] };

const NO_REQUEST = { id: '', arrived_ms: 0, protocol: '', program: '' };

/** Returns the maker of the handler of a path. Throws WeirError if the path is not that of a call. */
function callAt(path: string): (deps: CallDeps) => Handler {
  const handlerOf = Object.hasOwn(CALLS, path) ? CALLS[path] : undefined;
  if (handlerOf) return handlerOf;
  if (path.startsWith(GEMINI) && GENERATES.test(path)) return geminiModels;
  throw noCall();
}

/** Returns the parts of a route of calls: with the key, without its limit, and without a way to send. */
function dryDeps(deps: DryRunRouteDeps, dryRun: DryRun, { id }: KeyRecord): CallDeps {
  return {
    authentication: {
      // The time for a call does not matter, because nothing is sent.
      requireKey: async (context) => {
        const active = await deps.keys.getActiveById(id);
        // It is not stored. It knows the tags of the call, and the soft budgets that the call exceeds.
        context.record = new CallRecord(NO_REQUEST, active, () => undefined);
        return { ...active, timeout_ms: null };
      },
    },
    rateLimit: { consume: async () => undefined },
    catalogue: deps.catalogue,
    inference: () => dryRun.inference,
    repeats: deps.repeats,
    responses: deps.responses,
    generation: () => {
      const ports = deps.generation();
      return { ...ports, tasks: dryRun.tasksOver(ports.tasks) };
    },
  };
}

/** Returns the context that the call would have if its client had sent it. */
function callContext(
  context: RequestContext,
  bytes: BytesInFlight,
  { path: target, body, headers }: ReturnType<typeof validate>,
): RequestContext {
  const request = new Request(`http://localhost${target}`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const params = { '*': target.startsWith(GEMINI) ? target.slice(GEMINI.length) : '' };
  return { ...context, request, params, bytes, server: null };
}

function keyNotFound(): WeirError {
  return new WeirError('not_found', 'There is no such API key.', { param: 'api_key_id' });
}

function noCall(): WeirError {
  return new WeirError('invalid_request', 'path is not the path of a call with a JSON body.', {
    param: 'path',
    hint: `Use ${Object.keys(CALLS).join(', ')} or ${GEMINI}{model}:generateContent.`,
  });
}
