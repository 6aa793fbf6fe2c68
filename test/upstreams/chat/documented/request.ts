/** A request of chat that a vendor's documentation or its package's examples show. */
import type { DialectName } from '../../../../src/protocols/dialects.ts';
import type { ChatProtocol } from '../../../../src/protocols/names.ts';

export interface ChatRequest {
  readonly vendor: string;
  readonly protocol: ChatProtocol;
  readonly dialect?: DialectName;
  readonly source: string;
  /** The method of Gemini's interface; `generateContent` if absent. */
  readonly method?: 'streamGenerateContent';
  /** Without the model. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Why the simulator, which speaks the dialect of OpenAI, is not asked. */
  readonly not_simulated?: string;
}

export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const IMAGE_URL = 'https://example.com/boardwalk.jpg';
/** The tool of many examples. */
export const WEATHER_SCHEMA = {
  type: 'object',
  properties: {
    location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' },
    unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
  },
  required: ['location'],
};
export const user = (content: unknown) => ({ role: 'user', content });

/** The requests of one source. */
export const asked = (
  from: Pick<ChatRequest, 'vendor' | 'protocol' | 'dialect' | 'source' | 'not_simulated'>,
  ...bodies: readonly ChatRequest['body'][]
): ChatRequest[] => bodies.map((body) => ({ ...from, body }));
