import type { Model } from '../../api/types.ts';

/** A provider that the first page connects. */
export interface Provider {
  readonly name: string;
  /** The protocol of its channel. */
  readonly protocol: 'openai' | 'anthropic' | 'gemini';
  /** Where an account's key is made; undefined for an address of one's own. */
  readonly keys_at?: string;
  /** What its keys look like. */
  readonly example: string;
}

/** The providers of the first page. Each other one speaks the protocol of OpenAI, or needs weir.yaml. */
export const PROVIDERS: readonly Provider[] = [
  {
    ...{ name: 'OpenAI', protocol: 'openai', example: 'sk-…' },
    keys_at: 'platform.openai.com/api-keys',
  },
  {
    ...{ name: 'Anthropic', protocol: 'anthropic', example: 'sk-ant-…' },
    keys_at: 'console.anthropic.com/settings/keys',
  },
  {
    ...{ name: 'Google', protocol: 'gemini', example: 'AIza…' },
    keys_at: 'aistudio.google.com/apikey',
  },
  { name: 'Another address', protocol: 'openai', example: 'the key of that server' },
];

/** What a key brings (`POST /v1/operator/channels/check`). */
export interface Checked {
  readonly suggested_id: string;
  readonly key_tested: boolean;
  readonly lists_models: boolean;
  readonly models: readonly CheckedModel[];
  readonly unknown_models: readonly string[];
}

/** A model of the catalogue that an account brings. */
interface CheckedModel {
  readonly id: string;
  readonly upstream_model: string;
  /** The protocol of a channel that can serve it; null if only weir.yaml can. */
  readonly protocol: string | null;
  readonly category: string;
  readonly pricing: Model['pricing'];
}

/** A model that a channel can serve. */
export interface ChosenModel extends CheckedModel {
  readonly protocol: string;
}

/** The account that the form names. */
export interface Account {
  readonly protocol: string;
  readonly api_key: string;
  readonly base_url?: string;
}
