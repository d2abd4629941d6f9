-- SPDX-License-Identifier: GPL-2.0-only
-- Interrupts that take most time, by host, hour and CPU.
with handlers as (
	select host, ts_utc, cpu, kind, name, irq, dur from irq_slice
	union all
	select host, ts_utc, cpu, 'softirq', name, vec, dur from softirq_slice),
hours as (
	select host, hour_of(ts_utc) as hour,
		greatest(max(ts) - min(ts), 1) as span from event group by all)
select h.host, s.hour, h.cpu, h.kind, coalesce(h.name, h.irq::varchar) as name,
	count(*) as handled, sum(h.dur) / 1e6 as ms,
	sum(h.dur) / any_value(s.span) as share_of_cpu,
	quantile_cont(h.dur, 0.99) / 1e3 as p99_us, max(h.dur) / 1e3 as max_us,
	any_value(u.lost) as lost, any_value(u.gap_ms) as gap_ms,
	any_value(u.uncertain) as uncertain
from handlers h
join hours s on s.host = h.host and s.hour = hour_of(h.ts_utc)
left join uncertainty u on u.host = h.host and u.hour = s.hour
group by h.host, s.hour, h.cpu, h.kind, coalesce(h.name, h.irq::varchar)
order by share_of_cpu desc
limit 100;
