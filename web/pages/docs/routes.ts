/** The pages below `/docs`. */
export const docsRoutes = [] as const;
