/** Which images, documents and audio a model takes. */
import type { Abilities } from '../../catalogue/abilities.ts';
import type { Feature } from './features.ts';
import type { FeatureUse } from './neutral.ts';

/** Other names of media types that clients send. */
const ALIASES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'audio/mpeg': 'audio/mp3',
  'audio/mpga': 'audio/mp3',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/x-aac': 'audio/aac',
  'audio/x-aiff': 'audio/aiff',
  'audio/x-flac': 'audio/flac',
  'audio/x-m4a': 'audio/m4a',
};

/** Returns the usual name of a media type, without parameters. */
export function mediaType(sent: string): string {
  const [type = ''] = sent.toLowerCase().split(';');
  return ALIASES[type.trim()] ?? type.trim();
}

/** Media types that are text, in addition to `text/*`. */
const TEXT_TYPES = /^application\/(?:json|xml|javascript|x-javascript|typescript|yaml|x-yaml|csv)$/;
const OFFICE_TYPES = /officedocument|msword|ms-excel|ms-powerpoint|opendocument|application\/rtf/;

/** Returns the name of a kind, as `abilities` of the catalogue lists it. */
function kindOf(media_type: string): string {
  if (media_type.startsWith('text/') || TEXT_TYPES.test(media_type)) return 'text';
  return OFFICE_TYPES.test(media_type) ? 'office' : (media_type.split('/')[1] ?? media_type);
}

/** Media types by the ending of a URL's path. */
const ENDINGS: Readonly<Record<string, string>> = {
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', webp: 'image/webp' },
  ...{ gif: 'image/gif', bmp: 'image/bmp', heic: 'image/heic', heif: 'image/heif' },
  ...{ pdf: 'application/pdf', txt: 'text/plain', md: 'text/markdown', csv: 'text/csv' },
  ...{ html: 'text/html', xml: 'text/xml', json: 'application/json' },
};

/** Returns the media type of the file at a URL, by the ending of its path; undefined if unknown. */
export function typeOfUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const ending = new URL(url).pathname.split('.').at(-1)?.toLowerCase() ?? '';
  return Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined;
}

/** Returns the kinds that a model takes of a feature; undefined if the feature is no medium. */
function kindsFor(feature: Feature, abilities: Abilities): readonly string[] | undefined {
  switch (feature) {
    case 'image_inline':
      return abilities.images.inline;
    case 'image_url':
      return abilities.images.by_url;
    case 'file_inline':
      // Chat completions get text documents as text (chat-write.ts).
      return [...abilities.documents.inline, 'text'];
    case 'file_url':
      return abilities.documents.by_url;
    case 'audio_input':
      return abilities.audio_input;
    default:
      return undefined;
  }
}

/**
 * Returns why the model does not take a medium; undefined if it does, or if the use is of another
 * feature. A URL may hide its media type. It is taken if the model takes any URL.
 */
export function mediumRefusal(
  { feature, media_type }: FeatureUse,
  abilities: Abilities,
): string | undefined {
  const kinds = kindsFor(feature, abilities);
  if (!kinds) return undefined;
  if (kinds.length === 0) return 'cannot be used with this model';
  if (media_type === undefined || kinds.includes(kindOf(media_type))) return undefined;
  return `of the type ${media_type} cannot be used with this model, which takes ${[...new Set(kinds)].join(', ')}`;
}

/** Returns the text of a text document. */
export function decodedText(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}

/** True for a document that is text. */
export function isText(media_type: string): boolean {
  return kindOf(media_type) === 'text';
}
