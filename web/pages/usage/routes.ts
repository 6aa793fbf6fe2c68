/** The pages below `/usage`. */
export const usageRoutes = [] as const;
