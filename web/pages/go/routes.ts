/** The pages below `/go`. */
export const goRoutes = [] as const;
