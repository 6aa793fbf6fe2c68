/** The pages below `/billing`. */
export const billingRoutes = [] as const;
