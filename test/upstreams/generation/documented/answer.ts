/** An answer that a provider's documentation or a stranger's code shows, and what Weir makes of it. */
import type { GenerationProtocolName } from '../../../../src/protocols/names.ts';
import { PNG } from '../sdk-row.ts';

/** One HTTP answer of the provider. */
export interface ProviderStep {
  readonly body: unknown;
  /** If absent, 200. */
  readonly status?: number;
}

/** What a client gets, without the members that Weir makes up: ids, URLs, times. */
interface Given {
  /** The results in their order. A file is `file`, as its URL is Weir's own. */
  readonly data: readonly object[];
  /** The charge of the call: what the source reports, times the catalogue's price. */
  readonly usd: number;
}

export interface DocumentedAnswer {
  readonly protocol: GenerationProtocolName;
  /** Where the answer is shown: an address, `owner/repo: path`, or `package@version: path`. */
  readonly source: string;
  /** The model of the catalogue that the client calls. */
  readonly model: string;
  /** The client's request, without the model. */
  readonly call: object;
  /** The answer to the submission, then the answers to the polls. */
  readonly steps: readonly ProviderStep[];
  readonly gives: Given | { readonly fails: 'moderation' | 'input' | 'upstream' };
}

/** In an answer, the host that holds the results. */
export const FILES = 'https://files.example';
/** In an answer, the provider's own address, with the path of its `base_url`. */
export const PROVIDER = 'https://provider.example';
export const FILM = `${FILES}/1.mp4`;
export const PICTURE_URL = `${FILES}/1.png`;
export const SONG = `${FILES}/1.mp3`;
/** The Base64 that stands for the shortened Base64 of a source. */
export const BASE64 = PNG;

export const step = (body: unknown, status = 200): ProviderStep => ({ body, status });

/** The answers of one source. */
export const shownBy = (
  protocol: GenerationProtocolName,
  source: string,
  ...answers: readonly Omit<DocumentedAnswer, 'protocol' | 'source'>[]
): DocumentedAnswer[] => answers.map((answer) => ({ protocol, source, ...answer }));

export const prompt = 'A lighthouse in a storm';
export const fails = (why: 'moderation' | 'input' | 'upstream') => ({ fails: why });
