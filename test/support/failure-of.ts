/** The error of a failed call. `expect(…).rejects` does not accept the SDKs' promises. */
export async function failureOf(call: PromiseLike<unknown>): Promise<Error & { status?: number }> {
  try {
    await call;
  } catch (error) {
    return error as Error;
  }
  throw new Error('the call did not fail');
}
