-- SPDX-License-Identifier: GPL-2.0-only
-- The tables of ktape-parquet(5) as views, and what is lost, by host and hour.
-- First say where the tables are:
--
--	set variable ktape = '/data/traces';	-- or 's3://bucket/traces'

create or replace view process as from read_parquet(
	getvariable('ktape') || '/process/*/*/*/*.parquet', hive_partitioning = true);
create or replace view thread as from read_parquet(
	getvariable('ktape') || '/thread/*/*/*/*.parquet', hive_partitioning = true);
create or replace view sched_slice as from read_parquet(
	getvariable('ktape') || '/sched_slice/*/*/*/*.parquet', hive_partitioning = true);
create or replace view thread_state as from read_parquet(
	getvariable('ktape') || '/thread_state/*/*/*/*.parquet', hive_partitioning = true);
create or replace view irq_slice as from read_parquet(
	getvariable('ktape') || '/irq_slice/*/*/*/*.parquet', hive_partitioning = true);
create or replace view softirq_slice as from read_parquet(
	getvariable('ktape') || '/softirq_slice/*/*/*/*.parquet', hive_partitioning = true);
create or replace view syscall_slice as from read_parquet(
	getvariable('ktape') || '/syscall_slice/*/*/*/*.parquet', hive_partitioning = true);
create or replace view wakeup as from read_parquet(
	getvariable('ktape') || '/wakeup/*/*/*/*.parquet', hive_partitioning = true);
create or replace view event as from read_parquet(
	getvariable('ktape') || '/event/*/*/*/*.parquet', hive_partitioning = true);
create or replace view marker as from read_parquet(
	getvariable('ktape') || '/marker/*/*/*/*.parquet', hive_partitioning = true);
create or replace view value as from read_parquet(
	getvariable('ktape') || '/value/*/*/*/*.parquet', hive_partitioning = true);
create or replace view lost as from read_parquet(
	getvariable('ktape') || '/lost/*/*/*/*.parquet', hive_partitioning = true);
create or replace view capture as from read_parquet(
	getvariable('ktape') || '/capture/*/*/*/*.parquet', hive_partitioning = true);
create or replace view clock_snapshot as from read_parquet(
	getvariable('ktape') || '/clock_snapshot/*/*/*/*.parquet', hive_partitioning = true);
create or replace view sysinfo as from read_parquet(
	getvariable('ktape') || '/sysinfo/*/*/*/*.parquet', hive_partitioning = true);

-- The hour of UTC: date_trunc() of a time with a zone takes ten times as long, and begins
-- hours at the half of them in some zones.
create or replace macro hour_of(t) as
	make_timestamptz(epoch_us(t) // 3600000000 * 3600000000);

-- What is missing of each host in each hour: every query joins it, because a result is
-- only as certain as the trace is whole.  uncertain is the share of events that are
-- missing; null: the number of the missing events is not known.
create or replace view uncertainty as
with missing as (
	select host, hour_of(ts_utc) as hour, sum(count) as lost,
		count(*) filter (where count is null) as uncounted,
		sum(ts_end - ts) / 1e6 as gap_ms
	from lost where source = 'gap' group by all),
stored as (
	select host, hour_of(ts_utc) as hour, count(*) as stored
	from event group by all)
select host, hour, stored, coalesce(lost, 0) as lost,
	coalesce(gap_ms, 0) as gap_ms,
	case when coalesce(uncounted, 0) > 0 then null
	else coalesce(lost, 0) / (coalesce(lost, 0) + stored) end as uncertain
from stored left join missing using (host, hour);
