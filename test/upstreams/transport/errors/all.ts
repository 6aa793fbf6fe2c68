import { ANTHROPIC_ERRORS } from './anthropic.ts';
import { ANTHROPIC_CODES } from './anthropic-codes.ts';
import { AZURE_ERRORS } from './azure.ts';
import { BEDROCK_ERRORS } from './bedrock.ts';
import { BEDROCK_TYPES } from './bedrock-types.ts';
import { CHINESE_ERRORS } from './chinese.ts';
import { COMPATIBLE_ERRORS } from './compatible.ts';
import { COMPATIBLE_MORE_ERRORS } from './compatible-more.ts';
import { DIRECT_ERRORS } from './direct.ts';
import { GOOGLE_ERRORS } from './google.ts';
import { GOOGLE_CAPACITY_ERRORS } from './google-capacity.ts';
import { GOOGLE_REQUEST_ERRORS } from './google-requests.ts';
import { MEDIA_ERRORS } from './media.ts';
import { OPENAI_ERRORS } from './openai.ts';
import { OPENAI_REQUEST_ERRORS } from './openai-requests.ts';
import type { VendorErrors } from './payload.ts';
import { VIDEO_ERRORS } from './video.ts';

/** All error payloads that the tests know. */
export const VENDOR_ERRORS: readonly VendorErrors[] = [
  ...[OPENAI_ERRORS, OPENAI_REQUEST_ERRORS, AZURE_ERRORS],
  ...[ANTHROPIC_ERRORS, ANTHROPIC_CODES, BEDROCK_ERRORS, BEDROCK_TYPES],
  ...[GOOGLE_ERRORS, GOOGLE_CAPACITY_ERRORS, GOOGLE_REQUEST_ERRORS],
  ...[...CHINESE_ERRORS, ...COMPATIBLE_ERRORS, ...COMPATIBLE_MORE_ERRORS, ...DIRECT_ERRORS],
  ...[...MEDIA_ERRORS, ...VIDEO_ERRORS],
];
