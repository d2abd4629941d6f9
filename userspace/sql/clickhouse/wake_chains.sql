-- SPDX-License-Identifier: GPL-2.0-only
-- Chains of wake-ups: who woke whom, three links long, by names of threads, and how long
-- it took from the first wake-up to the last.
with wakes as (
	select host, trace_id, ts, assumeNotNull(waker_utid) as waker_utid, utid
	from wakeup where kind in ('waking', 'new') and waker_utid > 0),
moments as (
	select host, trace_id, utid, ts, cast(ts as Nullable(Int64)) as woken,
		cast(waker_utid as Nullable(Int64)) as by_whom,
		cast(null as Nullable(Int64)) as wakes_utid
	from wakes
	union all
	select host, trace_id, waker_utid, ts, cast(null as Nullable(Int64)),
		cast(null as Nullable(Int64)), cast(utid as Nullable(Int64))
	from wakes),
links as (	-- each wake-up with the one before it, of its waker
	select host, trace_id, ts, utid as waker, wakes_utid as woken_utid,
		last_value(woken) ignore nulls over (partition by host, trace_id, utid
			order by ts rows between unbounded preceding and 1 preceding)
			as ts_before,
		last_value(by_whom) ignore nulls over (partition by host, trace_id, utid
			order by ts rows between unbounded preceding and 1 preceding)
			as waker_before
	from moments),
losses as (
	select host, sum(lost) as all_lost, sum(gap_ms) as all_gap_ms,
		if(count() = count(uncertain), sum(lost) / (sum(lost) + sum(stored)), null)
			as share
	from uncertainty group by host)
select l.host as host, a.name as first, b.name as second, c.name as third,
	count() as times, quantileExact(0.5)(l.ts - l.ts_before) / 1e3 as p50_us,
	max(l.ts - l.ts_before) / 1e3 as max_us, any(x.all_lost) as lost,
	any(x.all_gap_ms) as gap_ms, any(x.share) as uncertain
from links l
join thread a on a.host = l.host and a.trace_id = l.trace_id and a.utid = l.waker_before
join thread b on b.host = l.host and b.trace_id = l.trace_id and b.utid = l.waker
join thread c on c.host = l.host and c.trace_id = l.trace_id and c.utid = l.woken_utid
left join losses x on x.host = l.host
where l.woken_utid is not null and l.waker_before is not null
group by host, first, second, third
order by times desc, max_us desc
limit 100;
