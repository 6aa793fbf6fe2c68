import type { GenerationModel } from '../../catalogue/catalogue.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { IMAGE_HEAD_BYTES, imageTypeOf } from '../../storage/image-type.ts';
import type { CallSignal } from '../../upstreams/contract.ts';
import type { BytesInFlight } from '../../upstreams/transport/body-budget.ts';
import { type JsonBody, MAX_INFERENCE_BODY_BYTES, readJsonObject } from '../body.ts';
import type { Handler } from '../endpoint.ts';
import { type Form, isForm, readForm } from '../form.ts';
import { generationRoute } from '../generation-route.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';
import { imageEvents } from './events.ts';
import { withResponseFormat } from './response-format.ts';
import { inlineImages } from './route.ts';

/** The form fields that contain files, and the parameter that each field becomes. */
const FILE_FIELDS: Readonly<Record<string, 'image' | 'mask'>> = {
  image: 'image',
  'image[]': 'image',
  mask: 'mask',
};
const NUMBER_FIELDS = ['n', 'output_compression', 'partial_images', 'seed'];
const BOOLEAN_FIELDS = ['async', 'stream'];

/**
 * `POST /v1/images/edits` (OpenAI docs: Create image edit). The body is the form that OpenAI's
 * packages send. The body may also be the JSON of `POST /v1/images/generations`, with URLs or
 * `data:` URLs in `image`.
 */
export function editImage(deps: GenerationRouteDeps): Handler {
  return generationRoute(deps, {
    scene: 'image',
    path: '/v1/images/edits',
    max_body_bytes: MAX_INFERENCE_BODY_BYTES,
    read: readEdit,
    complete: withResponseFormat,
    suits: canEdit,
    inline: inlineImages,
    streamed: (context) => imageEvents('image_edit', context),
  });
}

/** True if the model takes input images, and a mask if the call has one. */
function canEdit(
  { contract }: GenerationModel,
  { mask }: Readonly<Record<string, unknown>>,
): boolean {
  const { properties } = contract.schema;
  return 'image' in properties && (mask === undefined || mask === null || 'mask' in properties);
}

async function readEdit(
  request: Request,
  counted: BytesInFlight,
  signal: CallSignal,
): Promise<JsonBody> {
  const max_bytes = MAX_INFERENCE_BODY_BYTES;
  const body = isForm(request)
    ? await bodyOf(await readForm(request, { max_bytes, tooLarge, counted, signal }))
    : (await readJsonObject(request, counted, max_bytes, signal)).value;
  if (body['image'] === undefined && body['images'] === undefined) {
    throw new WeirError('invalid_request', 'image is required.', { param: 'image' });
  }
  return { value: body, text: JSON.stringify(body) };
}

/** Converts a form to the JSON body with the same parameters. */
async function bodyOf(form: Form): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for (const name of new Set(form.keys())) {
    const file = Object.hasOwn(FILE_FIELDS, name) ? FILE_FIELDS[name] : undefined;
    if (file === 'mask') body['mask'] = await referenceOf(form.get(name), 'mask');
    else if (file === 'image') {
      const images = await Promise.all(
        form.getAll(name).map((value) => referenceOf(value, 'image')),
      );
      body['image'] = [...((body['image'] as string[] | undefined) ?? []), ...images];
    } else body[name] = fieldOf(name, form.get(name));
  }
  return body;
}

/** Returns a file as a `data:` URL. A text value is already a URL, and is returned unchanged. */
async function referenceOf(value: string | Blob | null, param: string): Promise<string> {
  if (typeof value === 'string') return value;
  // Programs that do not know a file's type send `application/octet-stream`, e.g. curl for WebP.
  const head = new Uint8Array(await (value ?? new Blob()).slice(0, IMAGE_HEAD_BYTES).arrayBuffer());
  const type = imageTypeOf(head) ?? value?.type.split(';')[0] ?? '';
  if (!value || !type.startsWith('image/')) {
    throw new WeirError('invalid_request', `${param} must be a png, webp or jpg file.`, { param });
  }
  return `data:${type};base64,${Buffer.from(await value.arrayBuffer()).toString('base64')}`;
}

/**
 * Converts the text of a form field to the number or boolean that its parameter needs. Other text
 * stays text, and the contract checks it.
 */
function fieldOf(name: string, value: string | Blob | null): unknown {
  if (typeof value !== 'string') {
    throw new WeirError('invalid_request', `${name} must not be a file.`, { param: name });
  }
  if (NUMBER_FIELDS.includes(name) && value !== '' && !Number.isNaN(Number(value)))
    return Number(value);
  if (BOOLEAN_FIELDS.includes(name) && (value === 'true' || value === 'false'))
    return value === 'true';
  return value;
}

function tooLarge(): WeirError {
  return new WeirError('payload_too_large', 'The form is larger than 32 MB.', { param: 'body' });
}
