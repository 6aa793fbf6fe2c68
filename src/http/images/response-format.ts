import { WeirError } from '../../errors/weir-error.ts';

/**
 * The request header with the `response_format` of calls that do not send the parameter. Some
 * programs cannot send it, but need Base64: for `gpt-image` models the AI SDK sends none.
 */
const FORMAT_HEADER = 'x-weir-image-response-format';
const FORMATS: readonly unknown[] = ['url', 'b64_json'];

/**
 * Returns the body with the `response_format` of the header, else of the API key, if the body has none.
 * Throws WeirError
 * (400) if the header has another value than `url` or `b64_json`.
 */
export function withResponseFormat(
  { headers }: Request,
  key: { readonly image_response_format?: 'url' | 'b64_json' | null },
  body: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const response_format = headers.get(FORMAT_HEADER) ?? key.image_response_format ?? null;
  if (response_format === null) return body;
  if (!FORMATS.includes(response_format)) {
    throw new WeirError('invalid_request', `${FORMAT_HEADER} must be url or b64_json.`, {
      param: FORMAT_HEADER,
      hint: `Send ${FORMAT_HEADER}: b64_json, or leave the header out.`,
    });
  }
  const isGiven = body['response_format'] !== undefined && body['response_format'] !== null;
  return isGiven ? body : { ...body, response_format };
}
