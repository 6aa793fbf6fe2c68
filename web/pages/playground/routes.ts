/** The pages below `/playground`. */
export const playgroundRoutes = [] as const;
