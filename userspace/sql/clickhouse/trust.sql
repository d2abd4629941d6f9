-- SPDX-License-Identifier: GPL-2.0-only
-- Which traces can be trusted, and how far.
select c.host as host, c.trace_id as trace_id, c.ts_utc as begins,
	(c.ts_end - c.ts) / 1e9 as seconds, c.stored as stored, m.gaps as gaps,
	m.lost as lost, m.gap_ms as gap_ms,
	if(m.uncounted > 0, null, m.lost / (m.lost + c.stored)) as uncertain,
	multiIf(c.converted, 'made from another format: nothing vouches for it',
		not ifNull(c.clock_stable, false), 'times of different CPUs may be wrong',
		m.uncounted > 0, 'events are missing, and nobody knows how many',
		m.gaps > 0, 'events are missing, and counted',
		l.parts > 0, 'the beginning of some rings was overwritten',
		c.filters <> '', 'whole, but filters held events back', 'whole') as verdict
from capture c
left join (select host, trace_id, count() as gaps, sum(ifNull(count, 0)) as lost,
		countIf(count is null) as uncounted, sum(ts_end - ts) / 1e6 as gap_ms
	from lost where source = 'gap' group by host, trace_id) m
	on m.host = c.host and m.trace_id = c.trace_id
left join (select host, trace_id, count() as parts
	from lost where source = 'overwritten' group by host, trace_id) l
	on l.host = c.host and l.trace_id = c.trace_id
order by host, begins;
