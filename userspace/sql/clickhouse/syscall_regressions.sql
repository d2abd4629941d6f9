-- SPDX-License-Identifier: GPL-2.0-only
-- System calls that became slower between two dates, the parameters before and after:
--
--	set param_before = '2026-11-24'; set param_after = '2026-11-25';
--
-- Calls with fewer than 100 results on one of the days are left out: their 99th
-- percentile says nothing.
with losses as (
	select toDate(hour) as day, sum(lost) as all_lost,
		if(count() = count(uncertain), sum(lost) / (sum(lost) + sum(stored)), null)
			as share
	from uncertainty group by day)
select b.name as name, b.calls as calls_before, a.calls as calls_after,
	b.p50 as p50_us_before, a.p50 as p50_us_after, b.p99 as p99_us_before,
	a.p99 as p99_us_after, a.p50 / b.p50 as p50_ratio, a.p99 / b.p99 as p99_ratio,
	lb.all_lost as lost_before, la.all_lost as lost_after,
	case when lb.share is not null and la.share is not null
	then greatest(lb.share, la.share) end as uncertain
from (select name, date, count() as calls, quantileExact(0.5)(dur) / 1e3 as p50,
		quantileExact(0.99)(dur) / 1e3 as p99
	from syscall_slice where date = {before:Date} group by name, date) b
join (select name, date, count() as calls, quantileExact(0.5)(dur) / 1e3 as p50,
		quantileExact(0.99)(dur) / 1e3 as p99
	from syscall_slice where date = {after:Date} group by name, date) a
	on a.name = b.name
left join losses lb on lb.day = b.date
left join losses la on la.day = a.date
where b.calls >= 100 and a.calls >= 100
order by p50_ratio desc;
