import type { Sql, TransactionSql } from '../../db/client.ts';

type Work<Result> = (transaction: TransactionSql) => Promise<Result>;

/**
 * Runs a transaction that holds locks and is silent for as long as the test needs. The server would end it
 * after a second otherwise, which a busy machine may need for one step.
 */
export async function beginSilent<Result>(sql: Sql, work: Work<Result>): Promise<Result> {
  const run = async (transaction: TransactionSql): Promise<Result> => {
    await transaction`set local idle_in_transaction_session_timeout = 0`;
    return work(transaction);
  };
  return (await sql.begin(run as never)) as Result;
}
