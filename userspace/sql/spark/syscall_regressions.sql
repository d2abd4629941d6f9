-- SPDX-License-Identifier: GPL-2.0-only
-- System calls that became slower between two dates:
--
--	set before = 2026-11-24; set after = 2026-11-25;
--
-- Calls with fewer than 100 results on one of the days are left out: their 99th
-- percentile says nothing.
with days as (
	select name, date = date('${after}') as later, count(*) as calls,
		percentile(dur, 0.5) / 1e3 as p50, percentile(dur, 0.99) / 1e3 as p99
	from syscall_slice
	where date in (date('${before}'), date('${after}'))
	group by name, date = date('${after}')),
losses as (
	select date(hour) = date('${after}') as later, sum(lost) as lost,
		sum(gap_ms) as gap_ms,
		case when count(*) = count(uncertain)
		then sum(lost) / (sum(lost) + sum(stored)) end as uncertain
	from uncertainty
	where date(hour) in (date('${before}'), date('${after}'))
	group by date(hour) = date('${after}'))
select b.name, b.calls as calls_before, a.calls as calls_after,
	b.p50 as p50_us_before, a.p50 as p50_us_after, b.p99 as p99_us_before,
	a.p99 as p99_us_after, a.p50 / b.p50 as p50_ratio, a.p99 / b.p99 as p99_ratio,
	lb.lost as lost_before, la.lost as lost_after,
	case when lb.uncertain is not null and la.uncertain is not null
	then greatest(lb.uncertain, la.uncertain) end as uncertain
from days b
join days a on a.name = b.name and a.later and not b.later
left join losses lb on not lb.later
left join losses la on la.later
where b.calls >= 100 and a.calls >= 100
order by p50_ratio desc;
