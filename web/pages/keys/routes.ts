/** The pages below `/keys`. */
export const keysRoutes = [] as const;
