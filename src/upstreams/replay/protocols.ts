import type { ClientProtocol } from '../../protocols/names.ts';
import { chatReplay } from './chat.ts';
import { geminiReplay } from './gemini.ts';
import { messagesReplay } from './messages.ts';
import type { AnswerReplay } from './replay.ts';
import { responsesReplay } from './responses.ts';

/** How answers are sent again, by the client's protocol. */
export const REPLAYS: Record<ClientProtocol, AnswerReplay> = {
  openai: chatReplay,
  anthropic: messagesReplay,
  responses: responsesReplay,
  gemini: geminiReplay,
};
