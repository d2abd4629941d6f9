-- SPDX-License-Identifier: GPL-2.0-only
-- The tables of ktape-parquet(5) as views, and what is lost, by host and hour.
-- Replace TRACES by the folder; for object storage take s3('https://...', 'Parquet')
-- in the place of file().  ClickHouse takes v, date and host from the paths
-- (use_hive_partitioning, the default since 25.1).

create or replace view process as
select * from file('TRACES/process/*/*/*/*.parquet', 'Parquet');
create or replace view thread as
select * from file('TRACES/thread/*/*/*/*.parquet', 'Parquet');
create or replace view sched_slice as
select * from file('TRACES/sched_slice/*/*/*/*.parquet', 'Parquet');
create or replace view thread_state as
select * from file('TRACES/thread_state/*/*/*/*.parquet', 'Parquet');
create or replace view irq_slice as
select * from file('TRACES/irq_slice/*/*/*/*.parquet', 'Parquet');
create or replace view softirq_slice as
select * from file('TRACES/softirq_slice/*/*/*/*.parquet', 'Parquet');
create or replace view syscall_slice as
select * from file('TRACES/syscall_slice/*/*/*/*.parquet', 'Parquet');
create or replace view wakeup as
select * from file('TRACES/wakeup/*/*/*/*.parquet', 'Parquet');
create or replace view event as
select * from file('TRACES/event/*/*/*/*.parquet', 'Parquet');
create or replace view marker as
select * from file('TRACES/marker/*/*/*/*.parquet', 'Parquet');
create or replace view value as
select * from file('TRACES/value/*/*/*/*.parquet', 'Parquet');
create or replace view lost as
select * from file('TRACES/lost/*/*/*/*.parquet', 'Parquet');
create or replace view capture as
select * from file('TRACES/capture/*/*/*/*.parquet', 'Parquet');
create or replace view clock_snapshot as
select * from file('TRACES/clock_snapshot/*/*/*/*.parquet', 'Parquet');
create or replace view sysinfo as
select * from file('TRACES/sysinfo/*/*/*/*.parquet', 'Parquet');

-- What is missing of each host in each hour: every query joins it, because a result is
-- only as certain as the trace is whole.  uncertain is the share of events that are
-- missing; null: the number of the missing events is not known.
create or replace view uncertainty as
select s.host as host, s.hour as hour, s.stored as stored, m.lost as lost,
	m.gap_ms as gap_ms,
	if(m.uncounted > 0, null, m.lost / (m.lost + s.stored)) as uncertain
from (select host, toStartOfHour(ts_utc) as hour, count() as stored
	from event group by host, hour) s
left join (select host, toStartOfHour(ts_utc) as hour,
		sum(ifNull(count, 0)) as lost, countIf(count is null) as uncounted,
		sum(ts_end - ts) / 1e6 as gap_ms
	from lost where source = 'gap' group by host, hour) m
	on m.host = s.host and m.hour = s.hour;
