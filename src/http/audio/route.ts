import type { DirectModel } from '../../catalogue/catalogue.ts';
import { SPEECH_TRANSLATION } from '../../catalogue/contracts/direct.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { CACHE_CONTROL_HEADER, readCacheControl } from '../../inference/cache/cache-control.ts';
import { addCacheHeaders, type DirectCache } from '../../inference/cache/cached-direct.ts';
import { resolveDirectModel } from '../../inference/requests/resolve-model.ts';
import { withMove } from '../../inference/soft/move.ts';
import { TRANSCRIBERS } from '../../upstreams/direct/protocols.ts';
import { callSignal } from '../call-signal.ts';
import type { Handler } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import { serveOnce } from '../serve-once.ts';
import { GRANULARITIES_FIELD, readAudioForm } from './form.ts';
import { formatTranscript } from './formats.ts';

/**
 * The lowest bitrate of coded speech (Opus at 6 kbit/s). The size of a file, divided by this rate,
 * is the longest duration that the file can have.
 */
const MIN_BYTES_PER_S = 750;

/**
 * `POST /v1/audio/translations` translates speech into English (spec: Audio translation). `POST
 * /v1/audio/transcriptions` transcribes speech (OpenAI docs: Audio). A translation ignores the form
 * field `language`.
 */
export function audio(deps: InferenceRouteDeps, task: 'translations' | 'transcriptions'): Handler {
  return async (context) => {
    const { request, uuid, server, bytes } = context;
    const key = await deps.authentication.requireKey(context);
    await deps.rateLimit.consume(key, context);
    const signal = callSignal(context, key);
    server?.timeout(request, 0);
    const control = readCacheControl({}, request.headers.get(CACHE_CONTROL_HEADER));
    const {
      file,
      model: name,
      format,
      prompt,
      temperature,
      language,
      granularities,
      whole,
    } = await readAudioForm(request, bytes.of(key.id), signal, task);
    context.record?.ask({ model: name });
    const path = `/v1/audio/${task}`;
    const paid = { key, route: path, body: whole, signal };
    return serveOnce(deps, context, paid, async (mode) => {
      const inference = deps.inference();
      const route = { path, operation: 'stt' } as const;
      const model = resolveDirectModel(
        deps.catalogue(key.organization_id),
        name,
        key,
        route,
        (candidate, caller) => inference.isCallable(candidate, caller),
      );
      const accepts = (each: DirectModel) => {
        if (task === 'translations' && !each.contract.operations.includes(SPEECH_TRANSLATION)) {
          throw new WeirError('invalid_request', `${each.id} does not translate speech.`, {
            param: 'model',
            hint: 'Use /v1/audio/transcriptions, or another model.',
          });
        }
        // The narrower parameter is named first: times without their format are no use.
        each.contract.check({
          ...(granularities.length > 0 ? { [GRANULARITIES_FIELD]: granularities } : {}),
          response_format: format,
        });
        return true;
      };
      accepts(model);
      const inputOf = ({ declaration: { offers } }: DirectModel) => ({
        task,
        ...(offers?.transcript_formats
          ? { gives_times: offers.transcript_formats.includes('verbose_json') }
          : {}),
        file,
        ...(prompt === undefined ? {} : { prompt }),
        ...(temperature === undefined ? {} : { temperature }),
        ...(task === 'transcriptions' && language !== undefined ? { language } : {}),
        granularities,
        needs_times: format !== 'json' && format !== 'text',
      });
      const cached: DirectCache | undefined =
        task === 'translations'
          ? { kind: 'stt', control, request: await describeInput(inputOf(model)) }
          : undefined;
      const { record } = context;
      const transcribe = (served: DirectModel, may_move: boolean) =>
        inference.direct({
          ...{ cached, request_id: uuid, key, model: served, body: {}, body_text: '{}' },
          ...{ signal: mode.signal, bytes, record, may_move, protocols: TRANSCRIBERS },
          max_units: { seconds: Math.ceil(file.size / MIN_BYTES_PER_S) },
          request: async (transcriber, call) => {
            const heard = await transcriber.transcribe(call, inputOf(served));
            const { has_impossible_usage, ...answer } = heard;
            const isImpossible = has_impossible_usage === true;
            const usage = { seconds: answer.duration };
            return { answer, usage, estimated: isImpossible, has_impossible_usage: isImpossible };
          },
        });
      const transcript = await withMove(inference.moves, {
        ...{ key, model, record, run: transcribe },
        isAble: accepts,
      });
      const response = formatTranscript(
        format,
        transcript,
        task === 'translations' ? 'translate' : 'transcribe',
        granularities,
      );
      if (cached) addCacheHeaders(response.headers, cached);
      return response;
    });
  };
}

/** Returns what decides a translation of speech, with a hash instead of the file. */
async function describeInput({ file, ...fields }: { readonly file: File }) {
  const hash = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  const { name, type } = file;
  return { ...fields, file: Buffer.from(hash).toString('hex'), name, type };
}
