/**
 * Checks all rates of a call and charges all of them, or none and says how long to wait (GCRA), by the clock of the
 * database. The insert takes hold of every row, in one order, so that calls that share rates come one after the other.
 */
export const CHARGE_RATES = `
CREATE FUNCTION toolcrib_charge(cells TEXT) RETURNS DOUBLE PRECISION LANGUAGE plpgsql AS $$
DECLARE
  moment DOUBLE PRECISION;
  excess DOUBLE PRECISION;
BEGIN
  INSERT INTO toolcrib_rates AS rate (name, full_until)
    SELECT name, 0 FROM json_to_recordset(cells::json) AS cell(name TEXT) ORDER BY name
    ON CONFLICT (name) DO UPDATE SET full_until = rate.full_until;
  moment := extract(epoch FROM clock_timestamp()) * 1000;
  SELECT max(greatest(rate.full_until, moment) - moment + cell."perMs" / cell.amount - cell."perMs") INTO excess
    FROM toolcrib_rates AS rate
    JOIN json_to_recordset(cells::json) AS cell(name TEXT, amount DOUBLE PRECISION, "perMs" DOUBLE PRECISION)
      ON cell.name = rate.name;
  IF excess > 0.001 THEN
    RETURN excess;
  END IF;
  UPDATE toolcrib_rates AS rate SET full_until = greatest(rate.full_until, moment) + cell."perMs" / cell.amount
    FROM json_to_recordset(cells::json) AS cell(name TEXT, amount DOUBLE PRECISION, "perMs" DOUBLE PRECISION)
    WHERE cell.name = rate.name;
  IF random() < 0.001 THEN
    DELETE FROM toolcrib_rates WHERE name IN
      (SELECT name FROM toolcrib_rates WHERE full_until < moment - 60000 LIMIT 1000 FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN 0;
END
$$`;
