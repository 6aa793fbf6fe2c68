/** Every error that a vendor's SDK declares has a payload, with the status of the SDK. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { ROOT } from '../../../house/sources.ts';
import { ANTHROPIC_CODES } from './anthropic-codes.ts';
import { BEDROCK_TYPES } from './bedrock-types.ts';

const ANTHROPIC = join(ROOT, 'node_modules/@anthropic-ai/sdk/resources');
const AWS = join(ROOT, 'node_modules/@aws-sdk/client-bedrock-runtime/dist-es/schemas/schemas_0.js');
/** The statuses of the SDK's classes (`core/error.d.ts`). */
const STATUSES: Readonly<Record<string, number>> = {
  BadRequestError: 400,
  PaymentRequiredError: 402,
  PermissionDeniedError: 403,
  NotFoundError: 404,
  ConflictError: 409,
  ContentTooLargeError: 413,
  ErrorsRateLimitError: 429,
  ServiceUnavailableError: 503,
  OverloadedError: 529,
};

/** The codes of one file of types, each with the status of its class. */
async function declaredIn(path: string): Promise<string[]> {
  const types = await Bun.file(join(ANTHROPIC, path)).text();
  const classes = types.matchAll(/class \w+ extends (\w+) \{\s+readonly errorCode: '(\w+)'/g);
  return [...classes].map(([, parent = '', code]) => `${STATUSES[parent] ?? parent} ${code}`);
}

const known = ANTHROPIC_CODES.payloads.map(({ status, body }) => {
  const { error } = body as { error: { details: { error_code: string } } };
  return `${status} ${error.details.error_code}`;
});

test.each([
  'shared.d.ts',
  'beta/beta.d.ts',
  'messages/messages.d.ts',
  'files.d.ts',
  'skills/skills.d.ts',
])('P19: %s declares no code without a payload', async (path) => {
  const codes = await declaredIn(path);
  expect(codes).not.toEqual([]);
  expect(codes.filter((each) => !known.includes(each))).toEqual([]);
});

test('P19: the SDK of Bedrock declares no type of error without a payload', async () => {
  const schemas = await Bun.file(AWS).text();
  const statuses = schemas.matchAll(/export var (\w+Exception)\$ = \[[^;]*?\[_hE\]: (\d+)/g);
  const types = [...statuses].map(([, type, status]) => `${status} ${type}`);
  const payloads = BEDROCK_TYPES.payloads.map(({ status, headers }) => {
    const [type] = headers?.['x-amzn-errortype']?.split(':') ?? [];
    return `${status} ${type}`;
  });
  expect(types).not.toEqual([]);
  expect(payloads).toEqual(types);
});
