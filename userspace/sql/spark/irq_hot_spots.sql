-- SPDX-License-Identifier: GPL-2.0-only
-- Interrupts that take most time, by host, hour and CPU.
with handlers as (
	select host, ts_utc, cpu, kind, name, irq, dur from irq_slice
	union all
	select host, ts_utc, cpu, 'softirq', name, vec, dur from softirq_slice),
hours as (
	select host, date_trunc('hour', ts_utc) as hour,
		greatest(max(ts) - min(ts), 1) as span from event group by host, date_trunc('hour', ts_utc))
select h.host, s.hour, h.cpu, h.kind, coalesce(h.name, cast(h.irq as string)) as name,
	count(*) as handled, sum(h.dur) / 1e6 as ms,
	sum(h.dur) / first(s.span) as share_of_cpu,
	percentile(h.dur, 0.99) / 1e3 as p99_us, max(h.dur) / 1e3 as max_us,
	first(u.lost) as lost, first(u.gap_ms) as gap_ms,
	first(u.uncertain) as uncertain
from handlers h
join hours s on s.host = h.host and s.hour = date_trunc('hour', h.ts_utc)
left join uncertainty u on u.host = h.host and u.hour = s.hour
group by h.host, s.hour, h.cpu, h.kind, coalesce(h.name, cast(h.irq as string))
order by share_of_cpu desc
limit 100;
