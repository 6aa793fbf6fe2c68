import { isObject } from '../../json/object.ts';
import { readCount, type UsageReport } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError } from '../contract.ts';
import type { Translator } from './contract.ts';
import { requestJson } from './json-call.ts';

/** The members of the request that Weir's own route has too. */
const NAMES = {
  ...{ text: 'text', target_lang: 'target_lang', source_lang: 'source_lang' },
  ...{ formality: 'formality', context: 'context' },
};

/**
 * `POST /v2/translate` (DeepL docs: Translate). The physical model of a channel is DeepL's
 * `model_type`.
 */
export const deeplDirect: Translator = {
  async translate(call, { texts, target_lang, source_lang, formality, context }) {
    const headers = { authorization: `DeepL-Auth-Key ${call.target.api_key}` };
    const body = {
      ...{ text: texts, target_lang, source_lang, formality, context },
      ...{ model_type: call.physical_model, show_billed_characters: true },
    };
    const answer = await requestJson(call, '/v2/translate', headers, body, NAMES);
    const found = Array.isArray(answer['translations'])
      ? answer['translations'].filter(isObject)
      : [];
    if (found.length !== texts.length || found.some(({ text }) => typeof text !== 'string')) {
      throw new RetryableUpstreamError(
        'malformed',
        'the number of translations differs from the number of texts',
      );
    }
    return {
      translations: found.map(({ text, detected_source_language }) => ({
        text: String(text),
        detected_source_language: String(detected_source_language ?? source_lang ?? ''),
      })),
      characters: found.reduce<UsageReport<number>>(
        (sum, { billed_characters }) => added(sum, readCount(billed_characters)),
        0,
      ),
    };
  },
};

/** Returns the sum; `impossible` if one report is impossible, otherwise null if one is missing. */
function added(sum: UsageReport<number>, next: UsageReport<number>): UsageReport<number> {
  if (sum === 'impossible' || next === 'impossible') return 'impossible';
  return sum === null || next === null ? null : sum + next;
}
