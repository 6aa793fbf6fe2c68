/** What a call fails with. The SDKs' promises are no promises to `expect(…).rejects`. */
export async function failureOf(call: PromiseLike<unknown>): Promise<Error & { status?: number }> {
  try {
    await call;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
}
