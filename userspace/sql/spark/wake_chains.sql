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
		last_value(woken) ignore nulls over earlier as ts_before,
		last_value(by_whom) ignore nulls over earlier as waker_before
	from moments
	window earlier as (partition by host, trace_id, utid order by ts
		rows between unbounded preceding and 1 preceding)),
chains as (
	select l.host, l.trace_id, l.ts - l.ts_before as ns, a.name as first,
		b.name as second, c.name as third
	from links l
	join thread a on a.host = l.host and a.trace_id = l.trace_id
		and a.utid = l.waker_before
	join thread b on b.host = l.host and b.trace_id = l.trace_id
		and b.utid = l.waker
	join thread c on c.host = l.host and c.trace_id = l.trace_id
		and c.utid = l.woken_utid
	where l.woken_utid is not null and l.waker_before is not null),
losses as (
	select host, sum(lost) as lost, sum(gap_ms) as gap_ms,
		case when count(*) = count(uncertain)
		then sum(lost) / (sum(lost) + sum(stored)) end as uncertain
	from uncertainty group by host)
select c.host, c.first, c.second, c.third, count(*) as times,
	percentile(c.ns, 0.5) / 1e3 as p50_us, max(c.ns) / 1e3 as max_us,
	first(l.lost) as lost, first(l.gap_ms) as gap_ms,
	first(l.uncertain) as uncertain
from chains c left join losses l on l.host = c.host
group by c.host, c.first, c.second, c.third
order by times desc, max_us desc
limit 100;
