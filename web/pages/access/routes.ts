/** The pages below `/access`. */
export const accessRoutes = [] as const;
