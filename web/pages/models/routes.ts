/** The pages below `/models`. */
export const modelsRoutes = [] as const;
