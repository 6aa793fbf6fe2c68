/**
 * An answer that is none: the connection is reset before any byte of it. Bun has no call for that;
 * a body that fails before its first byte does it.
 */
export function connectionReset(): Response {
  return new Response(
    new ReadableStream({
      start(controller) {
        controller.error(undefined);
      },
    }),
  );
}
