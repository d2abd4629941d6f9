-- SPDX-License-Identifier: GPL-2.0-only
-- Chains of wake-ups: who woke whom, three links long, by names of threads, and how long
-- it took from the first wake-up to the last.
with wakes as (
	select host, trace_id, ts, waker_utid, utid from wakeup
	where kind in ('waking', 'new') and waker_utid > 0),
moments as (
	select host, trace_id, utid, ts, ts as woken, waker_utid as by_whom,
		null as wakes_utid
	from wakes
	union all
	select host, trace_id, waker_utid, ts, null, null, utid from wakes),
links as (	-- each wake-up with the one before it, of its waker
	select host, trace_id, ts, utid as waker, wakes_utid as woken_utid,
		last_value(woken ignore nulls) over before as ts_before,
		last_value(by_whom ignore nulls) over before as waker_before
	from moments
	window before as (partition by host, trace_id, utid order by ts
		rows between unbounded preceding and 1 preceding)),
-- DuckDB joins each name by itself, because it may begin a join of all three with all
-- triples of threads of a capture (10^8 for 512 threads).
firsts as materialized (
	select l.host, l.trace_id, l.ts - l.ts_before as ns, l.waker, l.woken_utid,
		t.name as first
	from links l
	join thread t on t.host = l.host and t.trace_id = l.trace_id
		and t.utid = l.waker_before
	where l.woken_utid is not null and l.waker_before is not null),
seconds as materialized (
	select f.host, f.trace_id, f.ns, f.first, f.woken_utid, t.name as second
	from firsts f
	join thread t on t.host = f.host and t.trace_id = f.trace_id
		and t.utid = f.waker),
chains as (
	select s.host, s.ns, s.first, s.second, t.name as third
	from seconds s
	join thread t on t.host = s.host and t.trace_id = s.trace_id
		and t.utid = s.woken_utid),
losses as (
	select host, sum(lost) as lost, sum(gap_ms) as gap_ms,
		case when count(*) = count(uncertain)
		then sum(lost) / (sum(lost) + sum(stored)) end as uncertain
	from uncertainty group by host)
select c.host, c.first, c.second, c.third, count(*) as times,
	quantile_cont(c.ns, 0.5) / 1e3 as p50_us, max(c.ns) / 1e3 as max_us,
	any_value(l.lost) as lost, any_value(l.gap_ms) as gap_ms,
	any_value(l.uncertain) as uncertain
from chains c left join losses l on l.host = c.host
group by c.host, c.first, c.second, c.third
order by times desc, max_us desc
limit 100;
