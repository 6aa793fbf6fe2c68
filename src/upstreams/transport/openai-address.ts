import type { UpstreamTarget } from '../contract.ts';

/** A request to Azure OpenAI: its channel, and the deployment, which is the physical model. */
interface AzureCall {
  readonly target: Pick<UpstreamTarget, 'base_url' | 'api_version'>;
  readonly physical_model: string;
}

/**
 * Returns the path of a request to Azure OpenAI. If the channel's `base_url` ends in `/openai`, the
 * path names the deployment. `api_version` becomes the query (openai 7.55.0: AzureOpenAI).
 */
function azurePath({ target, physical_model }: AzureCall, path: string): string {
  const { base_url, api_version } = target;
  const deployment = /\/openai\/*$/.test(base_url)
    ? `/deployments/${encodeURIComponent(physical_model)}`
    : '';
  const query = api_version === undefined ? '' : `?api-version=${encodeURIComponent(api_version)}`;
  return deployment + path + query;
}

/** How a vendor with OpenAI's formats is addressed. */
export interface OpenaiAddress {
  readonly headers: (api_key: string) => Record<string, string>;
  readonly path: (call: AzureCall, path: string) => string;
}

export const OPENAI: OpenaiAddress = {
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  path: (_, path) => path,
};

export const AZURE: OpenaiAddress = { headers: (key) => ({ 'api-key': key }), path: azurePath };
