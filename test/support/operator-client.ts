import { expect } from 'bun:test';

/** A Weir, and the operator token that sends the requests. */
export interface Operated {
  readonly base_url: string;
  readonly operator_token: string;
}

/** Sends requests below one path of the operator interface. `Record` is what its routes answer. */
export class OperatorClient<Record> {
  constructor(
    private readonly path: string,
    private readonly weir: () => Operated,
  ) {}

  send(
    method: string,
    path = '',
    body?: unknown,
    headers: { readonly [name: string]: string } = {},
  ): Promise<Response> {
    const { base_url, operator_token } = this.weir();
    return fetch(`${base_url}/v1/operator/${this.path}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${operator_token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
  }

  /** Sends a request, and returns the answer, which must be a success. */
  async ask<Answer = Record>(...args: Parameters<typeof this.send>): Promise<Answer> {
    const response = await this.send(...args);
    const text = await response.text();
    if (response.status !== 200) expect(text).toBe('a success');
    return JSON.parse(text) as Answer;
  }
}
