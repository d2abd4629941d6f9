-- SPDX-License-Identifier: GPL-2.0-only
-- The tables of ktape-parquet(5) as views, and what is lost, by host and hour.
-- First say where the tables are: set traces = /data/traces;
-- Days and hours are those of UTC: set spark.sql.session.timeZone = UTC;
-- Spark takes v, date and host from the paths.

create or replace temporary view process
	using parquet options (path '${traces}/process');
create or replace temporary view thread
	using parquet options (path '${traces}/thread');
create or replace temporary view sched_slice
	using parquet options (path '${traces}/sched_slice');
create or replace temporary view thread_state
	using parquet options (path '${traces}/thread_state');
create or replace temporary view irq_slice
	using parquet options (path '${traces}/irq_slice');
create or replace temporary view softirq_slice
	using parquet options (path '${traces}/softirq_slice');
create or replace temporary view syscall_slice
	using parquet options (path '${traces}/syscall_slice');
create or replace temporary view wakeup
	using parquet options (path '${traces}/wakeup');
create or replace temporary view event
	using parquet options (path '${traces}/event');
create or replace temporary view marker
	using parquet options (path '${traces}/marker');
create or replace temporary view value
	using parquet options (path '${traces}/value');
create or replace temporary view lost
	using parquet options (path '${traces}/lost');
create or replace temporary view capture
	using parquet options (path '${traces}/capture');
create or replace temporary view clock_snapshot
	using parquet options (path '${traces}/clock_snapshot');
create or replace temporary view sysinfo
	using parquet options (path '${traces}/sysinfo');

-- What is missing of each host in each hour: every query joins it, because a result is
-- only as certain as the trace is whole.  uncertain is the share of events that are
-- missing; null: the number of the missing events is not known.
create or replace temporary view uncertainty as
with missing as (
	select host, date_trunc('hour', ts_utc) as hour, sum(`count`) as lost,
		count(*) - count(`count`) as uncounted,
		sum(ts_end - ts) / 1e6 as gap_ms
	from lost where source = 'gap' group by host, date_trunc('hour', ts_utc)),
stored as (
	select host, date_trunc('hour', ts_utc) as hour, count(*) as stored
	from event group by host, date_trunc('hour', ts_utc))
select host, hour, stored, coalesce(lost, 0) as lost,
	coalesce(gap_ms, 0) as gap_ms,
	case when coalesce(uncounted, 0) > 0 then null
	else coalesce(lost, 0) / (coalesce(lost, 0) + stored) end as uncertain
from stored left join missing using (host, hour);
