-- SPDX-License-Identifier: GPL-2.0-only
-- Which traces can be trusted, and how far.
with missing as (
	select host, trace_id, count(*) as gaps, sum(count) as lost,
		count(*) filter (where count is null) as uncounted,
		sum(ts_end - ts) / 1e6 as gap_ms
	from lost where source = 'gap' group by all),
late as (
	select host, trace_id, count(*) as parts
	from lost where source = 'overwritten' group by all)
select c.host, c.trace_id, c.ts_utc as begins, (c.ts_end - c.ts) / 1e9 as seconds,
	c.stored, coalesce(m.gaps, 0) as gaps, coalesce(m.lost, 0) as lost,
	coalesce(m.gap_ms, 0) as gap_ms,
	case when m.uncounted > 0 then null
	else coalesce(m.lost, 0) / (coalesce(m.lost, 0) + c.stored) end as uncertain,
	case when c.converted then 'made from another format: nothing vouches for it'
	when not coalesce(c.clock_stable, false) then 'times of different CPUs may be wrong'
	when m.uncounted > 0 then 'events are missing, and nobody knows how many'
	when m.gaps > 0 then 'events are missing, and counted'
	when l.parts > 0 then 'the beginning of some rings was overwritten'
	when c.filters <> '' then 'whole, but filters held events back'
	else 'whole' end as verdict
from capture c left join missing m using (host, trace_id)
left join late l using (host, trace_id)
order by c.host, begins;
