/** The pages below `/batches`. */
export const batchesRoutes = [] as const;
